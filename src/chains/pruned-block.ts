import { NodeFailure } from '../nodes/node.ts';

/** A node that has deleted the block that it was asked for: only another one can tell what was in it. */
export class PrunedBlock extends NodeFailure {
  override name = 'PrunedBlock';
}
