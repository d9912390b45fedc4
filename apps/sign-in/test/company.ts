/** An organization whose members sign in at a company's identity provider. */
import { newId } from '@muster/driver';
import { type CompanyIssuer, type Employee } from '@muster/testing/company';
import { type Browser, type Installation } from './installation.ts';

/** An organization with an identity provider and a domain of its own. */
export interface CompanyWithProvider {
  readonly orgId: string;
  readonly domain: string;
  readonly providerId: string;
  /** The browser of the organization's owner, who is signed in. */
  readonly owner: Browser;
  /** Creates a member with an address in the domain, and the issuer's claims about them. */
  employee(claims?: Employee): Promise<{ email: string; subject: string; memberId: string }>;
}

export async function createCompany(
  installation: Installation,
  company: CompanyIssuer,
): Promise<CompanyWithProvider> {
  const { world } = installation;
  const { orgId, ana } = await world.org();
  const domain = `${newId()}.example`;
  const address = `ana@${domain}`;
  await world.rows('update members set email = $2 where id = $1', ana.me.memberId, address);
  const owner = await installation.signIn(address);
  const { clientId, clientSecret } = company;
  const { status, body } = await owner.call(orgId, 'identityProviders.upsert', {
    ...{ issuer: company.issuer(), clientId, clientSecret, name: 'Acme Login', domains: [domain] },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  const { id: providerId, redirectUrl } = body['provider'] as { id: string; redirectUrl: string };
  company.allowRedirect(redirectUrl);
  // Simulates the worker's DNS check.
  await world.rows(
    'update identity_provider_domains set proven_at = now() where provider_id = $1',
    providerId,
  );
  return {
    ...{ orgId, domain, providerId, owner },
    employee: async (claims = {}) => {
      const subject = newId();
      const email = `${subject}@${domain}`;
      const { me } = await world.member(orgId, `Eve ${subject}`, 'member');
      await world.rows('update members set email = $2 where id = $1', me.memberId, email);
      company.people.set(subject, { email, email_verified: true, name: 'Eve Example', ...claims });
      return { email, subject, memberId: me.memberId };
    },
  };
}
