import type { ColumnType, Selectable } from 'kysely';
import type { Defaulted } from './column-types.ts';

interface ApiKeysTable {
  id: string;
  merchant_id: string | null;
  partner_member_id: string | null;
  name: string;
  scopes: string[];
  secret: Buffer | null;
  passphrase_hash: Buffer;
  master_key_version: number;
  /** Master key version of the passphrase's hash; null if it is the secret's. */
  passphrase_key_version: Defaulted<number | null>;
  previous_secret: Buffer | null;
  previous_passphrase_hash: Buffer | null;
  previous_master_key_version: number | null;
  previous_passphrase_key_version: Defaulted<number | null>;
  previous_valid_until: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  rotated_at: Date | null;
  created_at: Date;
}

/** What a key was last used for, in a table of its own so that the key's row is not written again and again. */
interface ApiKeyUsageTable {
  key_id: string;
  last_used_at: Date;
  address: string;
  /** The last error of a request with it, and when; null without one. */
  last_error: string | null;
  last_error_at: Date | null;
}

/** What a wrong signature was made with. */
export interface SignatureExplanation {
  readonly readable: boolean;
  readonly findings: readonly {
    readonly component: string;
    readonly made: string;
    readonly remedy: string;
  }[];
}

/** Requests with API keys: those that failed, creations and, if configured, reads. */
export interface RequestLogTable {
  /** ID of the request: a UUIDv7. */
  id: string;
  /** When it arrived; only the minute if it is not verified. */
  at: Date;
  account_id: string;
  key_id: string;
  /** Whether the signature held. If not, the row stands for all `requests` of the key, error and minute. */
  verified: boolean;
  requests: number;
  method: string;
  /** Path and query as they were sent, at most 1,024 bytes. */
  target: string;
  status: number;
  error_code: string | null;
  param: string | null;
  /** Time until the response was ready. */
  milliseconds: number;
  address: string;
  /** Whether the response was one kept under an idempotency key. */
  replayed: boolean;
  payment_id: string | null;
  explanation: ColumnType<SignatureExplanation | null, string | null, never>;
}

interface NoncesTable {
  key_id: string;
  nonce: string;
  expires_at: Date;
}

interface MasterKeysTable {
  /** Check value of the key. */
  version: number;
  created_at: Date;
}

/** Ed25519 keys that sign evidence; the newest one signs. */
interface EvidenceKeysTable {
  id: string;
  /** 32 bytes. */
  public_key: Buffer;
  /** PKCS #8 in PEM, sealed. */
  private_key: Buffer;
  master_key_version: number;
  created_at: Date;
}

/** Keys of merchants and partners, and the keys of the service itself. */
export interface KeyTables {
  api_keys: ApiKeysTable;
  api_key_usage: ApiKeyUsageTable;
  request_log: RequestLogTable;
  nonces: NoncesTable;
  master_keys: MasterKeysTable;
  evidence_keys: EvidenceKeysTable;
}

export type ApiKey = Selectable<ApiKeysTable>;
export type EvidenceKey = Selectable<EvidenceKeysTable>;
