/** Builds the OpenAPI document of the whole service: the paths of licensed programs and the operators' API. */
import { productVersion } from '@muster/http';
import { z } from 'zod';
import { LatestParams, LatestResult } from '../releases/records.ts';
import { UsageParams, UsageResult } from '../usage/records.ts';
import { type OpenApiDocument, errorRef, jsonContent, jsonSchemaOf } from './openapi.ts';

/** The version of the described API, by semantic versioning. It changes only if the paths change. */
const apiVersion = '1.1.0';

const LicenseKey = z.string().describe('The license key, such as MUST-…');
const MachineId = z.string().describe('Identifies the machine; send the same text in each call.');
const Time = z.iso.datetime();

const ActivationBody = z.strictObject({ licenseKey: LicenseKey, machineId: MachineId });
const LicenseResponse = z.object({
  key: z.string(),
  plan: z.string(),
  expiresAt: Time.describe('9999-12-31T23:59:59.000Z if the license never expires.'),
  machineId: z.string(),
  activated: z.boolean(),
});
const ActivationResponse = z.object({ success: z.literal(true), license: LicenseResponse });
const CheckResponse = z.object({
  valid: z.boolean().describe('This machine holds the license, and the license is valid.'),
  plan: z.string(),
  expiresAt: Time,
  active: z.boolean().describe('This machine holds the license.'),
});
const UsageBody = ActivationBody.extend(UsageParams.shape);
const UsageResponse = UsageResult.extend({
  success: z.literal(true),
  license: z.object({ key: z.string(), machineId: z.string() }),
});
const LatestBody = ActivationBody.extend(LatestParams.shape);
const LatestResponse = LatestResult.extend({
  success: z.literal(true),
  license: z.object({ key: z.string(), machineId: z.string() }),
});
const TrialResponse = z.object({
  success: z.literal(true),
  trial: z.object({ machineId: z.string(), startedAt: Time, expiresAt: Time }),
});
const PublicKeysResponse = z.object({
  keys: z.array(z.looseObject({ kid: z.string(), kty: z.string(), crv: z.string(), x: z.string() })),
});

const statusDescriptions: Readonly<Record<number, string>> = {
  400: 'A parameter is missing or invalid.',
  403: 'The license or the trial is no longer valid, or may not be transferred; details.reason has the reason.',
  404: 'The license, trial or product does not exist.',
  405: 'The path accepts only POST; see the Allow header.',
  409: 'Another machine holds the license, or this one does not.',
  413: 'The request body is too large.',
  415: 'The request body is not application/json in UTF-8.',
  422: 'No usage event was counted; details.reason is meter_exceeded if a limit is reached.',
  429: 'Too many attempts; Retry-After says how long to wait.',
  500: 'Internal server error.',
  503: 'The service is unavailable or overloaded; Retry-After says how long to wait.',
};
const postErrorStatuses = [400, 403, 404, 405, 409, 413, 415, 429, 500, 503];
const getErrorStatuses = [400, 404, 429, 500, 503];

const openApiResponses = (description: string, result: z.ZodType, statuses: readonly number[]): object => ({
  200: { description, content: jsonContent(jsonSchemaOf(result, 'output')) },
  ...Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: statusDescriptions[status], content: jsonContent(errorRef) },
    ]),
  ),
});

const queryParameter = (name: string, schema: z.ZodType, required = true): object => ({
  ...{ name, in: 'query', required, schema: jsonSchemaOf(schema, 'input') },
});

const operationInfo = (operationId: string, summary: string): object => ({
  ...{ operationId, summary, tags: ['activation'], security: [] },
});

interface PostOperation {
  /** Error statuses of this operation in addition to the usual ones. */
  readonly ownStatuses?: readonly number[];
  readonly params: z.ZodType;
  readonly result: z.ZodType;
  readonly successDescription: string;
}

const describePost = (
  operationId: string,
  summary: string,
  { params, result, successDescription, ownStatuses = [] }: PostOperation,
): object => ({
  post: {
    ...operationInfo(operationId, summary),
    requestBody: { required: true, content: jsonContent(jsonSchemaOf(params, 'input')) },
    responses: openApiResponses(successDescription, result, [...postErrorStatuses, ...ownStatuses]),
  },
});

const publicPaths = {
  '/api/activate': describePost('activate', 'Activate a license on a machine', {
    ...{ params: ActivationBody, result: ActivationResponse },
    successDescription: 'The machine holds the license. Repeating the call on the same machine is safe.',
  }),
  '/api/activate/check': {
    get: {
      ...operationInfo('check', 'Check the license of a machine'),
      parameters: [queryParameter('licenseKey', LicenseKey), queryParameter('machineId', MachineId)],
      responses: openApiResponses('The state of the license.', CheckResponse, getErrorStatuses),
    },
  },
  '/api/activate/release': describePost('release', 'Release the license from a machine', {
    ...{ params: ActivationBody, result: ActivationResponse },
    successDescription: 'The license was released from the machine. Another machine can activate it.',
  }),
  '/api/releases/latest': describePost('latest', 'Find the latest release that the license may download', {
    ...{ params: LatestBody, result: LatestResponse },
    successDescription: 'The release with addresses of its files, which are valid for five minutes.',
  }),
  '/api/usage': describePost('usage', 'Report the usage of a machine that holds the license', {
    ...{ params: UsageBody, result: UsageResponse, ownStatuses: [422] },
    successDescription:
      'The outcome of each event. Repeating an event within 35 days does not count it again. An event that is above a ' +
      'limit is refused, unless the meter counts such usage; the other events are counted.',
  }),
  '/api/trials': describePost('trial', 'Start or continue the trial of a machine', {
    ...{ params: z.strictObject({ machineId: MachineId }), result: TrialResponse },
    successDescription: 'The trial of this machine.',
  }),
  '/.well-known/license-keys.json': {
    get: {
      ...operationInfo('keys', 'Public keys that verify the signatures of answers'),
      parameters: [queryParameter('product', z.string().describe('The default product if omitted.'), false)],
      responses: {
        200: {
          description: 'A JSON Web Key Set.',
          content: { 'application/jwk-set+json': { schema: jsonSchemaOf(PublicKeysResponse, 'output') } },
        },
        404: { description: statusDescriptions[404], content: jsonContent(errorRef) },
      },
    },
  },
};

export const serviceOpenApiOf = (operatorsDocument: OpenApiDocument): object => ({
  ...operatorsDocument,
  info: {
    ...operatorsDocument.info,
    title: 'Licenses',
    version: apiVersion,
    'x-product-version': productVersion,
    description:
      'Activates licenses on machines and checks them. Each answer is signed (RFC 9421). ' +
      'Paths under /api/operators need a token of `license token new`.',
  },
  tags: [
    { name: 'activation', description: 'Calls that programs make with a license key.' },
    ...operatorsDocument.tags,
  ],
  paths: { ...publicPaths, ...operatorsDocument.paths },
});
