/**
 * Generates, from the registry, the facts about each operation that the client needs at run time. These facts
 * contain no schemas.
 */
import { isOperation } from '@muster/contract';
import { registry } from '@muster/registry';
import { formatted } from '@muster/tools';

type Kinds = { readonly [word: string]: string | Kinds };

const kindsOf = (node: object): Kinds =>
  Object.fromEntries(
    Object.entries(node).map(([word, child]: [string, object]): [string, string | Kinds] => {
      if (!isOperation(child)) return [word, kindsOf(child)];
      const isList = child.effect === 'read' && 'nextCursor' in child.result.shape;
      return [word, isList ? 'list' : child.effect];
    }),
  );

/** Returns the current text of libs/client/src/kinds.generated.ts. */
export const kindsText = (): Promise<string> =>
  formatted(
    'kinds.ts',
    `/** Whether an operation reads, reads a list that comes in pages, or writes. */
    export type Kind = 'read' | 'list' | 'write';
    export const kinds = ${JSON.stringify(kindsOf(registry))} as const;`,
  );
