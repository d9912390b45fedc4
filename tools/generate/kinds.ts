/** What the client needs of each operation at run time, made from the registry: it carries no schemas. */
import { isOperation, registry } from '@muster/registry';
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

/** libs/client/src/kinds.generated.ts as it should be now. */
export const kindsText = (): Promise<string> =>
  formatted(
    'kinds.ts',
    `/** Whether an operation reads, reads a list that comes in pages, or writes. */
    export type Kind = 'read' | 'list' | 'write';
    export const kinds = ${JSON.stringify(kindsOf(registry))} as const;`,
  );
