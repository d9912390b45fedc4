/** What others make of /openapi.json: two readings of the standard that know nothing of each other. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { useApi } from './api.ts';

const api = useApi();
let text: string;

beforeAll(async () => {
  ({ text } = await api.request('/openapi.json', { method: 'GET' }));
});

type Document = Record<string, unknown>;
const read = (): Document => JSON.parse(text) as Document;
/** With a reference that leads nowhere. */
const broken = (): Document =>
  JSON.parse(text.replace('#/components/schemas/Error', '#/components/schemas/None')) as Document;

describe('/openapi.json', () => {
  const problemsIn = async (document: Document): Promise<string[]> => {
    const problems = await lintDocument({
      document: makeDocumentFromString(JSON.stringify(document), 'openapi.json'),
      externalRefResolver: new BaseResolver(),
      config: await createConfig({ extends: ['spec'] }),
    });
    return problems.map(({ message, location }) => `${message} ${JSON.stringify(location[0]?.pointer)}`);
  };

  it('has no fault that a linter finds, which finds one in a broken one', async () => {
    expect(await problemsIn(read())).toEqual([]);
    expect((await problemsIn(broken())).join()).toContain('resolve');
  });

  it('keeps the schemas of the standard itself, and refers to nothing that is not there', async () => {
    const validator = new Validator();
    expect(await validator.validate(read())).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(JSON.stringify(validator.resolveRefs())).not.toContain('"$ref"');
    expect(await new Validator().validate({ ...read(), paths: { post: {} } })).toMatchObject({
      valid: false,
    });
  });
});
