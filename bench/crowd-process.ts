/**
 * A crowd of clients, as its parent describes it on standard input. Each creates payments one after the other on its
 * own connection, and opens a new one as soon as a request is refused. Prints the results.
 */
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CrowdPlan, CrowdResult } from './crowd.ts';
import { renderSigned } from './signed-requests.ts';
import { creates } from './traffic.ts';

/** Status and length of a response, and where its body begins. */
const HEAD = /^HTTP\/1\.1 (\d{3})[\s\S]*?\r\ncontent-length: (\d+)\r\n[\s\S]*?\r\n\r\n/i;

const { port, clients, merchants, seconds } = (await json(process.stdin)) as CrowdPlan;
const next = creates(merchants);
const counts = { created: 0, refused: 0, other: 0 };
let isOver = false;

function open(): void {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1').setNoDelay();
  let received = '';
  let isRefused = false;
  const send = () => socket.write(renderSigned(next(), Date.now()), 'latin1');
  socket.on('connect', send);
  socket.on('data', (text: string) => {
    received += text;
    const [head = '', status, length] = HEAD.exec(received) ?? [];
    if (head === '' || received.length < head.length + Number(length)) return;
    received = '';
    if (isOver) return;
    if (status === '201') counts.created += 1;
    else if (status === '503') counts.refused += 1;
    else counts.other += 1;
    if (status === '201') return void send();
    isRefused = true;
    socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    if (isOver) return;
    if (!isRefused) counts.other += 1;
    open();
  });
}

const [began, cpu] = [performance.now(), process.cpuUsage()];
for (let client = 0; client < clients; client++) open();
await sleep(seconds * 1_000);
isOver = true;
const { user, system } = process.cpuUsage(cpu);
const result: CrowdResult = {
  ...counts,
  seconds: (performance.now() - began) / 1_000,
  cpuSeconds: (user + system) / 1e6,
};
process.stdout.write(JSON.stringify(result), () => process.exit());
