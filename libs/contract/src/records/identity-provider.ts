/** Identity providers: OpenID Connect issuers at which an organization's members sign in. */
import { z } from 'zod';
import { Id, nameText, recordStamps, boundedText, Time, Url } from '../kernel/values.ts';
import { DomainName } from './org.ts';

export const ProviderName = nameText(120);
export const ProviderDomains = z.array(DomainName).min(1).max(50);
export const ClientId = boundedText(255, 1);
export const ClientSecret = boundedText(1_000, 1);

/** The issuer identifier, byte for byte as in its metadata (`issuer`). */
export const Issuer = Url.refine(
  (value) => !/[?#]|\/\.well-known\//.test(value),
  'must be the issuer URL itself, without query, fragment or /.well-known/',
);

export const ProviderDomain = z.object({
  domain: z.string(),
  record: z
    .object({ name: z.string(), value: z.string() })
    .describe('The TXT record that must be in the DNS, and must stay there'),
  provenAt: Time.nullable().describe(
    'null if the record was not found; until it is, the issuer cannot sign in addresses of this domain',
  ),
  missingSince: Time.nullable().describe(
    'Since when the record of a proven domain is missing; the domain stays valid for seven more days. null while the record is found',
  ),
});

export const IdentityProvider = z
  .object({
    id: Id,
    name: z.string(),
    issuer: z.string(),
    clientId: z.string(),
    hasSecret: z.boolean().describe('Without a secret it is a public client'),
    trustsAddresses: z.boolean(),
    domains: z.array(ProviderDomain),
    redirectUrl: z.string().describe('The redirect URL to enter at the issuer'),
    check: z
      .object({ at: Time, problem: z.string().nullable() })
      .nullable()
      .describe('The result of the last test; problem is null if it passed. null while a test is running'),
    ...recordStamps,
  })
  .meta({ id: 'IdentityProvider' });
export type IdentityProvider = z.infer<typeof IdentityProvider>;
