/** The resources that describe this service provider: its features, its resource types and their schemas (RFC 7643). */
import { maxScimPageSize } from '@muster/contract';
import { groupSchema, scimPath, userSchema } from './resources.ts';

const schemaUrn = (name: string): string => `urn:ietf:params:scim:schemas:core:2.0:${name}`;

interface AttributeOptions {
  readonly type?: 'string' | 'boolean' | 'complex' | 'reference';
  readonly multiValued?: true;
  readonly required?: true;
  readonly caseExact?: true;
  readonly isReadOnly?: true;
  readonly uniqueness?: 'server';
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly object[];
}

const attribute = (
  name: string,
  description: string,
  { isReadOnly, type = 'string', ...options }: AttributeOptions = {},
): object => ({
  ...{ name, type, multiValued: false, description, required: false, caseExact: false },
  ...{ mutability: isReadOnly ? 'readOnly' : 'readWrite', returned: 'default', uniqueness: 'none' },
  ...options,
});

const refAttributes = (referenceType: string, isReadOnly?: true): readonly object[] => [
  attribute('value', 'Its id', { ...(isReadOnly && { isReadOnly }) }),
  attribute('$ref', 'Its address', { type: 'reference', referenceTypes: [referenceType], isReadOnly: true }),
  attribute('display', 'Its name', { isReadOnly: true }),
  attribute('type', 'Its type', { isReadOnly: true }),
];

const externalId = attribute('externalId', 'The id that the identity provider has for it', {
  caseExact: true,
});

const schemas = [
  {
    id: userSchema,
    name: 'User',
    description: 'A member of the organization',
    attributes: [
      externalId,
      attribute('userName', 'The e-mail address', { required: true, uniqueness: 'server' }),
      attribute('name', 'The parts of the name', {
        type: 'complex',
        subAttributes: [
          attribute('formatted', 'The full name'),
          attribute('givenName', 'The given name'),
          attribute('familyName', 'The family name'),
        ],
      }),
      attribute('displayName', 'The name that others see'),
      attribute('active', 'False for a member whose access has ended', { type: 'boolean' }),
      attribute('emails', 'The e-mail address, which is userName', {
        type: 'complex',
        multiValued: true,
        isReadOnly: true,
        subAttributes: [
          attribute('value', 'The e-mail address', { isReadOnly: true }),
          attribute('type', 'Always work', { isReadOnly: true, canonicalValues: ['work'] }),
          attribute('primary', 'Always true', { type: 'boolean', isReadOnly: true }),
        ],
      }),
      attribute('groups', 'The teams of the member', {
        type: 'complex',
        multiValued: true,
        isReadOnly: true,
        subAttributes: refAttributes('Group', true),
      }),
    ],
  },
  {
    id: groupSchema,
    name: 'Group',
    description: 'A team of the organization',
    attributes: [
      externalId,
      attribute('displayName', 'The name of the team', { required: true, uniqueness: 'server' }),
      attribute('members', 'The members of the team', {
        type: 'complex',
        multiValued: true,
        subAttributes: refAttributes('User'),
      }),
    ],
  },
];

interface DiscoveryResource {
  readonly id: string;
  readonly meta: object;
}

const resourceTypes = [
  { id: 'User', description: 'Members of the organization', schema: userSchema },
  { id: 'Group', description: 'Teams of the organization', schema: groupSchema },
];

export const resourceTypesOf = (baseUrl: string): DiscoveryResource[] =>
  resourceTypes.map((type) => ({
    schemas: [schemaUrn('ResourceType')],
    ...type,
    name: type.id,
    endpoint: `/${type.id}s`,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}${scimPath}/ResourceTypes/${type.id}` },
  }));

export const schemasOf = (baseUrl: string): DiscoveryResource[] =>
  schemas.map((schema) => ({
    schemas: [schemaUrn('Schema')],
    ...schema,
    meta: { resourceType: 'Schema', location: `${baseUrl}${scimPath}/Schemas/${schema.id}` },
  }));

export const providerConfigOf = (baseUrl: string, docsUrl: string | null): object => ({
  schemas: [schemaUrn('ServiceProviderConfig')],
  ...(docsUrl !== null && { documentationUri: `${docsUrl}/guides/scim` }),
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: maxScimPageSize },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'A token of the scope scim, which an admin creates in the settings.',
      specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}${scimPath}/ServiceProviderConfig` },
});
