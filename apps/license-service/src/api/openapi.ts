/** Builds the OpenAPI document of the operators' API from its operations. */
import { z } from 'zod';
import { type AnyOperation } from './operation.ts';

export const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
};

const ErrorBody = z.object({
  code: z.string(),
  message: z.string(),
  status: z.int(),
  requestId: z.string(),
  details: z.looseObject({ reason: z.string(), retryable: z.boolean() }),
});

export const json = (schema: object) => ({ 'application/json': { schema } });
export const errorRef = { $ref: '#/components/schemas/Error' };
export const components = { Error: schemaOf(ErrorBody, 'output') };
const nameOf = (path: string): string => path.replace('/', '.');

export interface Document {
  readonly info: object;
  readonly paths: Readonly<Record<string, object>>;
  readonly [field: string]: unknown;
}

export const openApiOf = (operations: readonly AnyOperation[]): Document => ({
  openapi: '3.1.0',
  info: {
    title: 'Licenses, for operators',
    version: '1',
    description:
      'Issue, find and change licenses, and receive webhooks about them. Create tokens with `license token new`; ' +
      'each token is for one product. Every call is a POST request with JSON.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ token: [] }],
  tags: [
    { name: 'licenses', description: 'Issued licenses.' },
    { name: 'webhooks', description: 'Webhooks.' },
  ],
  paths: Object.fromEntries(
    operations.map(({ path, scope, summary, description, params, result }) => [
      `/api/operators/${path}`,
      {
        post: {
          operationId: nameOf(path),
          ...{ summary, tags: [path.split('/')[0]] },
          description: [description, `Requires the scope \`${scope}\`.`].filter(Boolean).join(' '),
          requestBody: { required: true, content: json(schemaOf(params, 'input')) },
          responses: {
            200: { description: 'Done.', content: json(schemaOf(result, 'output')) },
            '4XX': {
              description: 'Refused; details.reason has the reason.',
              content: json(errorRef),
            },
            '5XX': {
              description: 'Not answered; send the call again.',
              content: json(errorRef),
            },
          },
        },
      },
    ]),
  ),
  components: {
    schemas: components,
    securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'mlt_…' } },
  },
});
