/** Builds the OpenAPI document of the operators' API from its operations. */
import { z } from 'zod';
import { type AnyOperation } from './operation.ts';

export const jsonSchemaOf = (schema: z.ZodType, io: 'input' | 'output'): object => {
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

export const jsonContent = (schema: object) => ({ 'application/json': { schema } });
export const errorRef = { $ref: '#/components/schemas/Error' };
export const componentSchemas = { Error: jsonSchemaOf(ErrorBody, 'output') };
const operationIdOf = (path: string): string => path.replace('/', '.');

export interface OpenApiDocument {
  readonly info: object;
  readonly tags: readonly object[];
  readonly paths: Readonly<Record<string, object>>;
  readonly [field: string]: unknown;
}

export const openApiDocumentOf = (operations: readonly AnyOperation[]): OpenApiDocument => ({
  openapi: '3.1.0',
  info: {
    title: 'Licenses, for operators',
    version: '1',
    description:
      'Issue, find and change licenses, publish releases, and receive webhooks about them. Create tokens with `license token new`; ' +
      'each token is for one product. Every call is a POST request with JSON.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  security: [{ token: [] }],
  tags: [
    { name: 'licenses', description: 'Issued licenses.' },
    { name: 'releases', description: 'Releases of the program.' },
    { name: 'webhooks', description: 'Webhooks.' },
  ],
  paths: Object.fromEntries(
    operations.map(({ path, scope, summary, description, params, result }) => [
      `/api/operators/${path}`,
      {
        post: {
          operationId: operationIdOf(path),
          ...{ summary, tags: [path.split('/')[0]] },
          description: [description, `Requires the scope \`${scope}\`.`].filter(Boolean).join(' '),
          requestBody: { required: true, content: jsonContent(jsonSchemaOf(params, 'input')) },
          responses: {
            200: { description: 'Done.', content: jsonContent(jsonSchemaOf(result, 'output')) },
            '4XX': {
              description: 'Refused; details.reason has the reason.',
              content: jsonContent(errorRef),
            },
            '5XX': {
              description: 'Not answered; send the call again.',
              content: jsonContent(errorRef),
            },
          },
        },
      },
    ]),
  ),
  components: {
    schemas: componentSchemas,
    securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'mlt_…' } },
  },
});
