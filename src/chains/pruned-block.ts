import { NodeFailure } from './nodes/node.ts';

/** The node has deleted the block that it was asked for: only another node can show it. */
export class PrunedBlock extends NodeFailure {
  override name = 'PrunedBlock';
}
