/** The paths of parameters that name members and agents. */
import { z } from 'zod';
import { type PersonKind } from './values.ts';

/** The path of a field within the parameters. `[]` stands for each item of a list. */
export interface PersonPath {
  readonly kind: PersonKind;
  readonly path: readonly string[];
}

const personKinds: readonly unknown[] = ['member', 'agent', 'actor'] satisfies PersonKind[];
const isPersonKind = (ref: unknown): ref is PersonKind => personKinds.includes(ref);

/** Returns the paths of all parameters in the schema that accept a handle or a slug. */
export function personPathsIn(schema: z.core.$ZodType, path: readonly string[] = []): PersonPath[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return personPathsIn(schema.unwrap(), path);
  if (schema instanceof z.ZodArray) return personPathsIn(schema.element, [...path, '[]']);
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, field]) =>
      personPathsIn(field, [...path, name]),
    );
  const kind = schema instanceof z.ZodString ? schema.meta()?.['x-muster-ref'] : undefined;
  return isPersonKind(kind) ? [{ kind, path }] : [];
}
