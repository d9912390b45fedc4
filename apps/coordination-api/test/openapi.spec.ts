/** Checks /openapi.json with two independent validators. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { eventKinds } from '@muster/contract';
import { useApi } from './api.ts';

const api = useApi();
let text: string;

beforeAll(async () => {
  ({ text } = await api.request('/openapi.json', { method: 'GET' }));
});

type Document = Record<string, unknown>;
const read = (): Document => JSON.parse(text) as Document;
/** Returns the document with a dangling reference. */
const broken = (): Document =>
  JSON.parse(text.replace('#/components/schemas/Error', '#/components/schemas/None')) as Document;

describe('/openapi.json', () => {
  const problemsIn = async (document: Document): Promise<string[]> => {
    const { styleguide } = await createConfig({
      extends: ['spec'],
      rules: { 'no-unresolved-refs': 'error' },
    });
    const problems = await lintDocument({
      document: makeDocumentFromString(JSON.stringify(document), 'openapi.json'),
      externalRefResolver: new BaseResolver(),
      config: styleguide,
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

it('shows an answer of each example, the messages of webhooks, and where more is to be read', () => {
  const document = read() as {
    info: { contact: { url: string } };
    externalDocs: { url: string };
    paths: Record<
      string,
      { post: { responses: Record<string, { content: Record<string, { example?: unknown }> }> } }
    >;
    webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: unknown }> } } }>;
  };
  expect([document.info.contact.url, document.externalDocs.url]).toEqual([
    expect.stringMatching(/^http/),
    expect.stringMatching(/^http/),
  ]);
  expect(
    document.paths['/api/stories/create']?.post.responses['200']?.content['application/json'],
  ).toMatchObject({
    example: { story: { key: expect.stringMatching(/^WEB-/) } },
  });
  expect(Object.keys(document.webhooks)).toEqual([
    ...[...eventKinds, 'audit.allowed', 'audit.denied', 'webhook.withheld', 'webhook.test'],
  ]);
  const audit = document.webhooks['audit.denied']?.post.requestBody.content['application/json'];
  expect(JSON.stringify(audit)).toMatch(/OcsfApiActivity.*"seq"/);
  const { schema } =
    document.webhooks['story.statusChanged']?.post.requestBody.content['application/json'] ?? {};
  expect(JSON.stringify(schema)).toMatch(/WebhookMessage.*story\.statusChanged.*"from".*"columnId"/);
});
