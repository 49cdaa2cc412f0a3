import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { QUICK_START } from './helpers/compile-cache.ts';
import { cloneDatabase } from './helpers/database.ts';

test.each(['PORT', 'METRICS_PORT'])(
  'a %s in use ends API and worker with one line and status 1',
  async variable => {
    const database = await cloneDatabase();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const script = join(import.meta.dirname, '../src/server.ts');
    const server = spawn(process.execPath, [script, '--with-worker'], {
      env: {
        PATH: process.env.PATH,
        ...QUICK_START,
        DATABASE_URL: database.url,
        MASTER_KEY: randomBytes(32).toString('base64'),
        PORT: '0',
        [variable]: String(port),
      },
      stdio: 'pipe',
    });
    try {
      const [output, complaint, [status]] = await Promise.all([
        text(server.stdout),
        text(server.stderr),
        once(server, 'exit'),
      ]);
      expect(status).toBe(1);
      const sentence = `127.0.0.1:${port} is in use by another process: end that one, or set ${variable}.`;
      expect(complaint).toBe(`${sentence}\n`);
      expect(output).not.toMatch(/EADDRINUSE|"level":"error"/);
      expect(output).toContain(`"msg":"${sentence}"`);
    } finally {
      server.kill('SIGKILL');
      other.close();
      await database.drop();
    }
  },
);
