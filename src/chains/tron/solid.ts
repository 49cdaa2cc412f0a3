import type { Node } from '../nodes/node.ts';
import { failure, toFields } from '../responses.ts';
import { toWalletBlock } from './responses.ts';

/** Height of the newest block that is solid: two thirds of the witnesses have built on it. */
export async function readSolidHeight(node: Node): Promise<number> {
  const response = toFields(node, await node.post('/walletsolidity/getnowblock', {}), 'a block');
  const header = toFields(node, response.block_header, 'the header of a block');
  const { number } = toFields(node, header.raw_data, 'the header of a block');
  if (!Number.isSafeInteger(number)) throw failure(node, 'the solid block has no number');
  return toWalletBlock(node, response, Number(number)).height;
}
