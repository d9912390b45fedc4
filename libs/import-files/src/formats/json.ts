/** Helpers for formats in JSON. */
import { z } from 'zod';
import { readJson, UnreadableFileError, type TextSource } from '../source.ts';

/** Parses the file if it starts like JSON. Returns undefined for a table. */
export async function tryReadJson(source: TextSource): Promise<unknown> {
  for await (const part of source()) {
    const start = part.replace(/^\uFEFF/, '').trimStart();
    if (start === '') continue;
    return /^[[{]/.test(start) ? readJson(source) : undefined;
  }
  throw new UnreadableFileError('the file is empty');
}

/** Accepts a list in the form of GraphQL or a plain list. A missing list is empty. */
export const listOrNodesSchema = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .union([
      z.array(schema),
      z.looseObject({ nodes: z.array(schema) }).transform(({ nodes }) => nodes as z.output<Schema>[]),
    ])
    .nullish()
    .transform((list): z.output<Schema>[] => list ?? []);

/** Parses each element of a list. Throws UnreadableFileError that names the first invalid one. */
export function parseEach<Schema extends z.ZodType>(
  list: readonly unknown[],
  schema: Schema,
  itemName: string,
): z.output<Schema>[] {
  return list.map((one, place) => {
    const parsed = schema.safeParse(one);
    if (parsed.success) return parsed.data;
    throw new UnreadableFileError(
      `item ${place + 1} of the list is not a valid ${itemName}:\n${z.prettifyError(parsed.error)}`,
    );
  });
}
