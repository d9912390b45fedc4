/**
 * Generates, from the registry, the facts about each operation that the client needs at run time. These facts
 * contain no schemas.
 */
import { kindOf } from '@muster/client-core';
import { isOperation } from '@muster/contract';
import { registry } from '@muster/registry';
import { formatted } from '@muster/tools';

const kindOrNamespace = (_word: string, node: object | string): object | string =>
  isOperation(node) ? kindOf(node) : node;

/** Returns the current text of libs/client/src/kinds.generated.ts. */
export const kindsText = (): Promise<string> =>
  formatted(
    'kinds.ts',
    `/** The kind of each operation: it reads, reads a paged list, or writes. */
    export const kinds = ${JSON.stringify(registry, kindOrNamespace)} as const;`,
  );
