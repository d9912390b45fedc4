/** Builds the OpenAPI document of the whole service: the paths of licensed programs and the operators' API. */
import { productVersion } from '@muster/http';
import { z } from 'zod';
import { type Document, errorRef, json, schemaOf } from './openapi.ts';

/** The version of the described API, by semantic versioning. It changes only if the paths change. */
const interfaceVersion = '1.0.0';

const LicenseKey = z.string().describe('The license key, such as MUST-…');
const MachineId = z.string().describe('Identifies the machine; send the same text in each call.');
const Time = z.iso.datetime();

const Question = z.strictObject({ licenseKey: LicenseKey, machineId: MachineId });
const License = z.object({
  key: z.string(),
  plan: z.string(),
  expiresAt: Time.describe('9999-12-31T23:59:59.000Z if the license never expires.'),
  machineId: z.string(),
  activated: z.boolean(),
});
const Activation = z.object({ success: z.literal(true), license: License });
const Check = z.object({
  valid: z.boolean().describe('This machine holds the license, and the license is valid.'),
  plan: z.string(),
  expiresAt: Time,
  active: z.boolean().describe('This machine holds the license.'),
});
const Trial = z.object({
  success: z.literal(true),
  trial: z.object({ machineId: z.string(), startedAt: Time, expiresAt: Time }),
});
const Keys = z.object({
  keys: z.array(z.looseObject({ kid: z.string(), kty: z.string(), crv: z.string(), x: z.string() })),
});

const meanings: Readonly<Record<number, string>> = {
  400: 'A parameter is missing or invalid.',
  403: 'The license or the trial is no longer valid, or may not be transferred; details.reason has the reason.',
  404: 'The license, trial or product does not exist.',
  405: 'The path accepts only POST; see the Allow header.',
  409: 'Another machine holds the license, or this one does not.',
  413: 'The request body is too large.',
  415: 'The request body is not application/json in UTF-8.',
  429: 'Too many attempts; Retry-After says how long to wait.',
  500: 'Internal server error.',
  503: 'The service is unavailable or overloaded; Retry-After says how long to wait.',
};
const ofBodies = [400, 403, 404, 405, 409, 413, 415, 429, 500, 503];
const ofQueries = [400, 404, 429, 500, 503];

const responsesOf = (description: string, result: z.ZodType, statuses: readonly number[]): object => ({
  200: { description, content: json(schemaOf(result, 'output')) },
  ...Object.fromEntries(
    statuses.map((status) => [status, { description: meanings[status], content: json(errorRef) }]),
  ),
});

const inQuery = (name: string, schema: z.ZodType, required = true): object => ({
  ...{ name, in: 'query', required, schema: schemaOf(schema, 'input') },
});

const described = (operationId: string, summary: string): object => ({
  ...{ operationId, summary, tags: ['activation'], security: [] },
});

interface Posted {
  readonly params: z.ZodType;
  readonly result: z.ZodType;
  readonly done: string;
}

const post = (operationId: string, summary: string, { params, result, done }: Posted): object => ({
  post: {
    ...described(operationId, summary),
    requestBody: { required: true, content: json(schemaOf(params, 'input')) },
    responses: responsesOf(done, result, ofBodies),
  },
});

const publicPaths = {
  '/api/activate': post('activate', 'Activate a license on a machine', {
    ...{ params: Question, result: Activation },
    done: 'The machine holds the license. Repeating the call on the same machine is safe.',
  }),
  '/api/activate/check': {
    get: {
      ...described('check', 'Check the license of a machine'),
      parameters: [inQuery('licenseKey', LicenseKey), inQuery('machineId', MachineId)],
      responses: responsesOf('The state of the license.', Check, ofQueries),
    },
  },
  '/api/activate/release': post('release', 'Release the license from a machine', {
    ...{ params: Question, result: Activation },
    done: 'Another machine may activate the license.',
  }),
  '/api/trials': post('trial', 'Start or continue the trial of a machine', {
    ...{ params: z.strictObject({ machineId: MachineId }), result: Trial },
    done: 'The trial of this machine.',
  }),
  '/.well-known/license-keys.json': {
    get: {
      ...described('keys', 'Public keys that verify the signatures of answers'),
      parameters: [inQuery('product', z.string().describe('The default product if omitted.'), false)],
      responses: {
        200: {
          description: 'A JSON Web Key Set.',
          content: { 'application/jwk-set+json': { schema: schemaOf(Keys, 'output') } },
        },
        404: { description: meanings[404], content: json(errorRef) },
      },
    },
  },
};

export const serviceDocumentOf = (forOperators: Document): object => ({
  ...forOperators,
  info: {
    ...forOperators.info,
    title: 'Licenses',
    version: interfaceVersion,
    'x-product-version': productVersion,
    description:
      'Activates licenses on machines and checks them. Each answer is signed (RFC 9421). ' +
      'Paths under /api/operators need a token of `license token new`.',
  },
  tags: [
    { name: 'activation', description: 'Calls that programs make with a license key.' },
    { name: 'licenses', description: 'Issued licenses.' },
    { name: 'webhooks', description: 'Webhooks.' },
  ],
  paths: { ...publicPaths, ...forOperators.paths },
});
