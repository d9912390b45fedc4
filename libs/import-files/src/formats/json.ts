/** What readers of JSON have in common. */
import { z } from 'zod';
import { jsonOf, NoImport, type Source } from '../source.ts';

/** The file as JSON where it begins as JSON does; undefined where it is a table. */
export async function jsonIfAny(source: Source): Promise<unknown> {
  for await (const part of source()) {
    const start = part.replace(/^\uFEFF/, '').trimStart();
    if (start === '') continue;
    return /^[[{]/.test(start) ? jsonOf(source) : undefined;
  }
  throw new NoImport('the file is empty');
}

/** A list as GraphQL answers it, or a plain one; one that is not there is empty. */
export const nodesOf = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .union([
      z.array(schema),
      z.looseObject({ nodes: z.array(schema) }).transform(({ nodes }) => nodes as z.output<Schema>[]),
    ])
    .nullish()
    .transform((list): z.output<Schema>[] => list ?? []);

/** Each of a list by the schema; throws NoImport that names the first that does not fit. */
export function parseEach<Schema extends z.ZodType>(
  list: readonly unknown[],
  schema: Schema,
  what: string,
): z.output<Schema>[] {
  return list.map((one, place) => {
    const parsed = schema.safeParse(one);
    if (parsed.success) return parsed.data;
    throw new NoImport(`number ${place + 1} of the list is no ${what}:\n${z.prettifyError(parsed.error)}`);
  });
}
