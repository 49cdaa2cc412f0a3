import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { announceService, ServiceRunning } from '#runtime/development/local-service.ts';

const MINE = 'http://127.0.0.1:1';

let directory: string;
const file = () => join(directory, 'service.json');
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'eps-local-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function listen() {
  const server = createServer(socket => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** Another process, which lives as long as this test. */
async function another(): Promise<{ pid: number; end(): void }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1e6)']);
  await once(child, 'spawn');
  return { pid: child.pid ?? 0, end: () => child.kill('SIGKILL') };
}

test('a data directory that another process serves is refused, and its file is kept', async () => {
  const [other, service] = await Promise.all([another(), listen()]);
  const written = JSON.stringify({ url: service.url, pid: other.pid });
  writeFileSync(file(), written);
  await expect(announceService(directory, MINE)).rejects.toThrow(ServiceRunning);
  expect(readFileSync(file(), 'utf8')).toBe(written);
  service.close();
  other.end();
});

test('a killed one is succeeded, even if its process ID is reused', async () => {
  const other = await another();
  const service = await listen();
  for (const left of [
    { url: MINE, pid: other.pid },
    { url: service.url, pid: process.pid },
    { url: service.url, pid: 2 ** 30 },
  ]) {
    writeFileSync(file(), JSON.stringify(left));
    const withdraw = await announceService(directory, MINE);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ url: MINE, pid: process.pid });
    await withdraw();
    expect(() => readFileSync(file())).toThrow('ENOENT');
  }
  service.close();
  other.end();
});
