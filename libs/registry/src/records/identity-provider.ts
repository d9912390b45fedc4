/** Identity providers: OpenID Connect issuers at which an organization's members sign in. */
import { z } from 'zod';
import { Id, name, stamps, text, Time, Url } from '../kernel/values.ts';
import { DomainName } from './org.ts';

export const ProviderName = name(120);
export const ProviderDomains = z.array(DomainName).min(1).max(50);
export const ClientId = text(255, 1);
export const ClientSecret = text(1_000, 1);

/** The issuer identifier, byte for byte as in its metadata (`issuer`). */
export const Issuer = Url.refine(
  (value) => !/[?#]|\/\.well-known\//.test(value),
  'must be the issuer itself, without query, fragment or /.well-known/',
);

export const ProviderDomain = z.object({
  domain: z.string(),
  record: z
    .object({ name: z.string(), value: z.string() })
    .describe('What has to stand in the DNS, as TXT, and stay there'),
  provenAt: Time.nullable().describe(
    'null: the record was not found, and the issuer speaks for no address of it',
  ),
  missingSince: Time.nullable().describe(
    'Since when the record of a proven domain is not found: it counts for seven days more. null while it is found',
  ),
});

export const IdentityProvider = z
  .object({
    id: Id,
    name: z.string(),
    issuer: z.string(),
    clientId: z.string(),
    hasSecret: z.boolean().describe('Without one it is a public client'),
    trustsAddresses: z.boolean(),
    domains: z.array(ProviderDomain),
    redirectUrl: z.string().describe('What to enter at the issuer: where people are sent back to'),
    check: z
      .object({ at: Time, problem: z.string().nullable() })
      .nullable()
      .describe(
        'What became of the last test; problem null: it answers as it should. null: a test is under way',
      ),
    ...stamps,
  })
  .meta({ id: 'IdentityProvider' });
export type IdentityProvider = z.infer<typeof IdentityProvider>;
