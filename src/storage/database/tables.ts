import type { AccountTables } from './account-tables.ts';
import type { DepositTables } from './deposit-tables.ts';
import type { KeyTables } from './key-tables.ts';
import type { LineageTables } from './lineage-tables.ts';
import type { MailTables } from './mail-tables.ts';
import type { NetworkTables } from './network-tables.ts';
import type { PaymentTables } from './payment-tables.ts';
import type { PeopleTables } from './people-tables.ts';
import type { ReportTables } from './report-tables.ts';
import type { WatchingTables } from './watching-tables.ts';
import type { WebhookTables } from './webhook-tables.ts';

/** Every table of the service, as Kysely sees it. */
export interface Tables
  extends AccountTables,
    DepositTables,
    KeyTables,
    LineageTables,
    MailTables,
    NetworkTables,
    PaymentTables,
    PeopleTables,
    ReportTables,
    WatchingTables,
    WebhookTables {}
