import { type Operation, parseWith } from '@muster/registry';

/** Answers the parsed parameters. Throws 400 with every field that does not fit. */
export const parseParams = (operation: Operation, params: unknown): Record<string, unknown> =>
  parseWith(operation.params, params, `The parameters of ${operation.name} do not fit.`);
