// The rules of model vendors for tool lists. A single tool that breaks a rule makes the whole request fail,
// so every tool is checked. The rules come from the vendors' documentation or error messages.
import { describe, expect, it } from '@jest/globals';
import { type ToolSchema, repeatsName } from './schemas.ts';
import { allTools } from './toolbox.ts';

interface SchemaNode {
  readonly path: string;
  readonly schema: ToolSchema;
}

function* schemaNodesIn(
  schema: ToolSchema,
  path: string,
  depth = 1,
): Generator<SchemaNode & { depth: number }> {
  yield { path, schema, depth };
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    yield* schemaNodesIn(property, `${path}.${name}`, depth + 1);
  const items = schema['items'] as ToolSchema | undefined;
  if (items !== undefined) yield* schemaNodesIn(items, `${path}[]`, depth + 1);
}

const listedTools = allTools.flatMap(({ tool, withoutProject }) => [tool, withoutProject]);
const schemaNodes = listedTools.flatMap(({ name, inputSchema }) => [
  ...schemaNodesIn(inputSchema as ToolSchema, name),
]);
const nestedNodes = schemaNodes.filter(({ path }) => /[.[]/.test(path));

/** Lists the schemas that break a rule. */
const breaking = (
  rule: (schema: ToolSchema, path: string) => boolean,
  among: readonly SchemaNode[] = schemaNodes,
): string[] => among.filter(({ schema, path }) => !rule(schema, path)).map(({ path }) => path);

describe('every vendor', () => {
  it('knows each keyword', () => {
    const known = ['type', 'description', 'properties', 'required', 'items', 'enum', 'format'];
    expect(breaking((schema) => Object.keys(schema).every((keyword) => known.includes(keyword)))).toEqual([]);
  });

  it('is told one type of each value', () => {
    const types: unknown[] = ['string', 'integer', 'number', 'boolean', 'array', 'object'];
    expect(breaking(({ type }) => types.includes(type))).toEqual([]);
  });

  it('takes each name', () => {
    for (const { name } of listedTools) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_]{0,62}$/);
    const names = nestedNodes.flatMap(({ schema }) => Object.keys(schema.properties ?? {}));
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_]{1,64}$/);
  });

  it('finds every parameter that is required', () => {
    expect(
      breaking(({ required = [], properties = {} }) =>
        required.every((name) => Object.hasOwn(properties, name)),
      ),
    ).toEqual([]);
  });
});

describe('OpenAI in strict mode', () => {
  it('takes an object at the root, and no object whose fields are not said', () => {
    for (const { inputSchema } of listedTools) expect(inputSchema.type).toBe('object');
    expect(
      breaking(
        ({ type, properties = {} }) => type !== 'object' || Object.keys(properties).length > 0,
        nestedNodes,
      ),
    ).toEqual([]);
  });

  it('knows the format', () => {
    const known: unknown[] = [undefined, 'date-time'];
    expect(breaking(({ format }) => known.includes(format))).toEqual([]);
  });

  it('takes at most five levels, and so many values', () => {
    expect(schemaNodes.filter(({ depth }) => depth > 6).map(({ path }) => path)).toEqual([]);
    expect(breaking(({ enum: values = [] }) => (values as unknown[]).length <= 250)).toEqual([]);
  });
});

describe('Gemini', () => {
  it('takes values of text alone, none of them empty', () => {
    expect(
      breaking(
        ({ type, enum: values }) =>
          values === undefined ||
          (type === 'string' &&
            (values as unknown[]).every((value) => typeof value === 'string' && value !== '')),
      ),
    ).toEqual([]);
  });

  it('is told what is in each list', () => {
    expect(breaking(({ type, items }) => (type === 'array') === (items !== undefined))).toEqual([]);
  });

  it('knows the format, of text', () => {
    expect(breaking(({ type, format }) => format === undefined || type === 'string')).toEqual([]);
  });
});

describe('Anthropic', () => {
  it('takes no choice at the root, and names of at most 64 characters', () => {
    for (const { name, inputSchema } of listedTools) {
      expect(Object.keys(inputSchema).filter((keyword) => /^(any|one|all)Of$/.test(keyword))).toEqual([]);
      expect(name.length).toBeLessThanOrEqual(64);
    }
  });
});

describe('a description', () => {
  it('says more than the name', () => {
    const named = nestedNodes.filter(({ path }) => !path.endsWith('[]'));
    expect(
      breaking(
        ({ description }, path) =>
          description === undefined || !repeatsName(description, path.slice(path.lastIndexOf('.') + 1)),
        named,
      ),
    ).toEqual([]);
  });

  it('tells no model to send null', () => {
    const told = allTools.filter(
      ({ kind, tool }) =>
        kind !== 'meta' && tool.annotations?.readOnlyHint === false && /\bnull\b/.test(JSON.stringify(tool)),
    );
    expect(told.map(({ name }) => name)).toEqual([]);
  });
});
