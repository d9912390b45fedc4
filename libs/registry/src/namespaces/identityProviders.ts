import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { notAsTool, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Deleted, ExpectedVersion, Id } from '../kernel/values.ts';
import {
  ClientId,
  ClientSecret,
  IdentityProvider,
  Issuer,
  ProviderDomains,
  ProviderName,
} from '../records/identity-provider.ts';

const providerId = '01936d5c-0000-7000-8000-0000000000d4';

/**
 * Only admins themselves may call these: an admin who controls an identity provider can sign in as any
 * person.
 */
const byAdmins = { access: org('admin'), byMemberOnly: true, surfaces: notAsTool } as const;
const writes = { ...byAdmins, effect: 'write', auditsRefusal: true, needsProof: true } as const;

export const identityProviders = {
  list: operation({
    ...byAdmins,
    name: 'identityProviders.list',
    effect: 'read',
    summary: 'List the identity providers by which people sign in',
    keywords: 'sso single sign-on oidc openid connect okta entra google keycloak issuer',
    description: `Oldest first, with what their tests said, and the DNS record that proves each domain. redirectUrl is what to enter at an issuer before there is one here.`,
    params: z.strictObject({ ...page }),
    result: pageOf(IdentityProvider).extend({ redirectUrl: z.string() }),
    example: {},
  }),
  upsert: operation({
    ...writes,
    name: 'identityProviders.upsert',
    summary: 'Let people sign in by an issuer of OpenID Connect, or change how',
    keywords: 'sso single sign-on oidc openid connect okta entra google keycloak issuer company login',
    description: `Without providerId it makes one, or changes the one of this issuer and client. A person who types an address of its domains at /sign-in is led there; it speaks for a domain only once the TXT record of that is found. It is tested at once: list says what came of it. policy.update with allowedIdentityProviders lets in only who came by one. At most 20 in an organization.`,
    params: z.strictObject({
      providerId: Id.optional(),
      name: ProviderName.optional().meta({ description: 'On the button; its host unless said' }),
      issuer: Issuer.meta({ description: 'As its metadata has it, byte for byte' }),
      clientId: ClientId,
      clientSecret: ClientSecret.nullable()
        .optional()
        .meta({ description: 'Written and never read; left out it stays, null takes it away' }),
      domains: ProviderDomains.meta({ description: 'Of the e-mail addresses that it speaks for' }),
      trustsAddresses: z.boolean().optional().meta({
        description:
          'Whether its word of an address counts without email_verified, which Entra does not send; only for an issuer whose accounts are all your own',
      }),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ provider: IdentityProvider }),
    refusals: ['version_mismatch', 'limit_exceeded', 'already_exists'],
    example: {
      issuer: 'https://login.acme.example',
      clientId: 'muster',
      clientSecret: 'a secret of the issuer',
      domains: ['acme.example'],
    },
  }),
  delete: operation({
    ...writes,
    name: 'identityProviders.delete',
    destructive: true,
    summary: 'Let people sign in by an identity provider no more',
    keywords: 'sso oidc remove issuer disconnect',
    description: `Their accounts and sessions stay, and they sign in by a link or a passkey. Refused while the policy lets in only who came by it.`,
    params: z.strictObject({ providerId: Id }),
    result: Deleted,
    refusals: ['policy'],
    example: { providerId },
  }),
  test: operation({
    ...byAdmins,
    effect: 'write',
    auditsRefusal: true,
    idempotent: true,
    name: 'identityProviders.test',
    summary: 'Ask an identity provider what it offers, and look for the records of its domains',
    keywords: 'sso oidc check verify domain txt dns discovery',
    description: `A worker does it at once, and list says what came of it: check is null until then. A worker looks once a day, too. A domain whose record is gone counts for seven days more, and the owner and the admins are told by e-mail.`,
    params: z.strictObject({ providerId: Id }),
    result: z.object({ provider: IdentityProvider }),
    example: { providerId },
  }),
};
