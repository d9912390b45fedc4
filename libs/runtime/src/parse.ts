import { type Operation, parseWith } from '@muster/contract';

/** Parses the parameters. Throws 400 with every invalid field. */
export const parseParams = (operation: Operation, params: unknown): Record<string, unknown> =>
  parseWith(operation.params, params, `The parameters of ${operation.name} are invalid.`);
