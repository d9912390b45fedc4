/**
 * Writes the identity providers that the examples name: two issuers with which people of an organization sign
 * in.
 */
import { type Makers } from '@muster/testing/world';

const exampleProviderId = '01936d5c-0000-7000-8000-0000000000d4';

interface ProvidersSetUp {
  readonly orgId: string;
  /** The actor as JSON. */
  readonly author: string;
  /** Returns the id that the example names, or a new one. */
  readonly idOf: (exampleId: string) => string;
}

/** Inserts the identity providers that the examples name, and returns the id of the first one. */
export async function arrangeIdentityProviders(
  { rows }: Makers,
  { orgId, author, idOf }: ProvidersSetUp,
): Promise<{ identityProvider: string }> {
  const [identityProvider, other] = [idOf(exampleProviderId), idOf('01936d5c-0000-7000-8000-0000000000d5')];
  await rows(
    `insert into identity_providers (org_id, id, name, issuer, client_id, created_by)
     select $1, one.id, one.name, 'https://' || one.name || '.example', 'muster', $2
     from unnest($3::uuid[], $4::text[]) one (id, name)`,
    ...[orgId, author, [identityProvider, other], ['okta', 'keycloak']],
  );
  await rows(
    `insert into identity_provider_domains (org_id, provider_id, domain, proof) values ($1, $2, 'okta.example', 'proof')`,
    ...[orgId, identityProvider],
  );
  return { identityProvider };
}
