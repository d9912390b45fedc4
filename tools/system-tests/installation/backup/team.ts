/** The organization of specs that use a standby, and the tokens of its members. */
import { type Pool } from '@muster/driver';
import { addMember, createOrganization, createToken } from '@muster/organizations';

export type BackedUpMember = 'ana' | 'ben' | 'chloe';

/** Creates a new token, which no process has cached yet. */
export const tokenOf = async (pool: Pool, name: BackedUpMember): Promise<string> =>
  (await createToken(pool, { org: 'acme', member: `${name}@acme.example`, name, scopes: ['admin'] })).token;

/** Creates the organization with Ana as its owner, and returns a token for each member. */
export async function makeTeam(owner: Pool): Promise<Record<BackedUpMember, string>> {
  await createOrganization(owner, {
    ...{ name: 'Acme', slug: 'acme', plan: 'team', seats: 25 },
    owner: { email: 'ana@acme.example', name: 'ana' },
  });
  for (const name of ['ben', 'chloe'])
    await addMember(owner, { org: 'acme', email: `${name}@acme.example`, name, role: 'member' });
  const [ana, ben, chloe] = [
    await tokenOf(owner, 'ana'),
    await tokenOf(owner, 'ben'),
    await tokenOf(owner, 'chloe'),
  ];
  return { ana, ben, chloe };
}
