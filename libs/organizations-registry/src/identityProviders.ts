import { z } from 'zod';
import {
  org,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  Deleted,
  ExpectedVersion,
  Id,
  ClientId,
  ClientSecret,
  IdentityProvider,
  Issuer,
  ProviderDomains,
  ProviderName,
} from '@muster/contract';

const providerId = '01936d5c-0000-7000-8000-0000000000d4';

/**
 * Only admins themselves may call these: an admin who controls an identity provider can sign in as any
 * person.
 */
const adminAccess = { access: org('admin'), byMemberOnly: true, surfaces: surfacesWithoutTool } as const;
const adminWriteAccess = { ...adminAccess, effect: 'write', auditsRefusal: true, needsProof: true } as const;

export const identityProviders = {
  list: operation({
    ...adminAccess,
    name: 'identityProviders.list',
    effect: 'read',
    summary: 'List the identity providers of the organization',
    keywords: 'sso single sign-on oidc openid connect okta entra google keycloak issuer',
    description:
      'Oldest first, with test results, and for each domain the DNS record that proves it. redirectUrl is the URL to enter at the issuer, even before a provider exists here.',
    params: z.strictObject({ ...pageParams }),
    result: pageSchemaOf(IdentityProvider).extend({ redirectUrl: z.string() }),
    example: {},
  }),
  upsert: operation({
    ...adminWriteAccess,
    name: 'identityProviders.upsert',
    summary: 'Add or change an OpenID Connect identity provider',
    keywords: 'sso single sign-on oidc openid connect okta entra google keycloak issuer company login',
    description:
      'Without providerId it adds a provider, or changes the one with this issuer and client. Entering an e-mail address of its domains at /sign-in leads to this provider; a domain works only after its TXT record was found. The provider is tested immediately, and identityProviders.list shows the result. To require it for sign-in, set allowedIdentityProviders with policy.update. At most 20 per organization.',
    params: z.strictObject({
      providerId: Id.optional(),
      name: ProviderName.optional().meta({
        description: "Shown on the sign-in button; by default the issuer's host",
      }),
      issuer: Issuer.meta({ description: "Exactly as in the issuer's metadata, byte for byte" }),
      clientId: ClientId,
      clientSecret: ClientSecret.nullable()
        .optional()
        .meta({ description: 'Never returned. An omitted secret keeps its value, null removes it' }),
      domains: ProviderDomains.meta({
        description: 'The domains of the e-mail addresses that may sign in with it',
      }),
      trustsAddresses: z.boolean().optional().meta({
        description:
          'Whether to trust its e-mail addresses without the claim email_verified, which Entra does not send. Use it only if all accounts at the issuer are yours',
      }),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ provider: IdentityProvider }),
    refusals: ['version_mismatch', 'limit_exceeded', 'already_exists'],
    example: {
      issuer: 'https://login.acme.example',
      clientId: 'muster',
      clientSecret: 'clientSecret of the issuer',
      domains: ['acme.example'],
    },
  }),
  delete: operation({
    ...adminWriteAccess,
    name: 'identityProviders.delete',
    destructive: true,
    summary: 'Remove an identity provider',
    keywords: 'sso oidc remove issuer disconnect',
    description:
      'Accounts and sessions stay; people sign in with an e-mail link or a passkey. Fails while the policy requires this provider.',
    params: z.strictObject({ providerId: Id }),
    result: Deleted,
    refusals: ['policy'],
    example: { providerId },
  }),
  test: operation({
    ...adminAccess,
    effect: 'write',
    auditsRefusal: true,
    idempotent: true,
    name: 'identityProviders.test',
    summary: 'Test an identity provider and the DNS records of its domains',
    keywords: 'sso oidc check verify domain txt dns discovery',
    description:
      'Runs as a background job, and identityProviders.list shows the result; check is null until then. Each provider is also tested once a day. A domain whose record is missing stays valid for seven more days, and the owner and admins are notified by e-mail.',
    params: z.strictObject({ providerId: Id }),
    result: z.object({ provider: IdentityProvider }),
    example: { providerId },
  }),
};
