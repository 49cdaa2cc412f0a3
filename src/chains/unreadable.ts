import { LaggingNode, NodeFailure } from './nodes/node.ts';
import { writeJson } from './nodes/parse-json.ts';
import type { WatchedAddress } from './transfer.ts';

/**
 * A response that can be read but belongs to another block or transaction than was requested. The node is at
 * fault, however many elements of the response are right.
 */
export class OtherResponse extends NodeFailure {
  override name = 'OtherResponse';
}

/**
 * Reads each element of a list by itself, so that one that cannot be read does not stop the others. If there
 * are several and none can be read, the whole response counts as wrong.
 * @param read Throws NodeFailure for an element that it cannot read. It must make no call to a node.
 * @param onUnreadable Called for each unreadable element, after the others have been read.
 * @param isPart Whether the list is only a part of what is read, so that it never counts as wrong by itself.
 * @throws NodeFailure if the list has several elements, and none can be read; OtherResponse, LaggingNode.
 */
export function readEach<T, R>(
  list: readonly T[],
  read: (element: T, index: number) => readonly R[],
  onUnreadable: (element: T, detail: string, index: number) => void,
  isPart = false,
): R[] {
  const failures: { element: T; index: number; failure: NodeFailure }[] = [];
  const results = list.flatMap((element, index) => {
    const result = readOrFailure(() => read(element, index));
    if (!(result instanceof NodeFailure)) return result;
    failures.push({ element, index, failure: result });
    return [];
  });
  const [first] = failures;
  const isNoneRead = list.length > 1 && failures.length === list.length;
  if (first !== undefined && isNoneRead && !isPart) {
    throw first.failure;
  }
  for (const { element, index, failure } of failures) {
    onUnreadable(element, failure.message, index);
  }
  return results;
}

/**
 * What `read` returns, or the NodeFailure that it throws. It must make no call to a node.
 * @throws OtherResponse, LaggingNode
 */
export function readOrFailure<T>(read: () => T): T | NodeFailure {
  try {
    return read();
  } catch (failure) {
    const isOfNode = failure instanceof OtherResponse || failure instanceof LaggingNode;
    if (!(failure instanceof NodeFailure) || isOfNode) throw failure;
    return failure;
  }
}

/**
 * The watched addresses that occur as text in an element that cannot be read.
 * @param spell The address as the element would contain it, in lower case unless case matters.
 */
export function findNamed(
  element: unknown,
  watch: Iterable<WatchedAddress>,
  spell: (watched: WatchedAddress) => string,
): WatchedAddress[] {
  const text = String(writeJson(element));
  const lower = text.toLowerCase();
  return [...watch].filter(each => {
    const spelled = spell(each);
    return text.includes(spelled) || lower.includes(spelled);
  });
}
