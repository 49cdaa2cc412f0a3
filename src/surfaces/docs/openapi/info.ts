import { ERROR_CODES, ERRORS } from '#errors/catalogue.ts';
import { readVersion } from '../client-package/package-file.ts';

/** The document's `info`. */
export function describeApi(publicUrl: string) {
  return {
    title: 'External Payments Service',
    version: readVersion(),
    contact: { name: 'Operator of this installation', url: `${publicUrl}/docs` },
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    description: `Merchants' servers create payments and read them back; customers pay on a hosted checkout; partners pull reports.

Every request of v1 and of the partner reports is signed: see [signing](${publicUrl}/docs/signing). [Quickstart](${publicUrl}/docs/quickstart) leads to a first payment.

## Errors

Every error is JSON with one \`error\` object. Decide by \`errorCode\` or \`code\`, and retry only where \`X-MP-Should-Retry\` is \`true\`.

| errorCode | code | HTTP | Retry |
|---|---|---|---|
${errorRows(publicUrl)}`,
  };
}

function errorRows(publicUrl: string): string {
  return ERROR_CODES.map(errorCode => {
    const { code, status, retry } = ERRORS[errorCode];
    const link = `[${errorCode}](${publicUrl}/docs/errors/${errorCode})`;
    return `| ${link} | \`${code}\` | ${status} | ${retry ? 'yes' : 'no'} |`;
  }).join('\n');
}
