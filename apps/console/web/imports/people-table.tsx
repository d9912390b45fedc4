/** Whose the names of a file are: a member of the same name, unless another is chosen. */
import { type NamedPerson } from '@muster/import-files';
import { type Member } from '@muster/registry';
import { i } from '../messages/imports.ts';

/** As many as are looked at. */
const mostShown = 50;

/** Addresses by names in small letters. Two members of one name are told apart by no name. `chosen` has '' for nobody. */
export function addressesOf(
  members: readonly Pick<Member, 'name' | 'email'>[],
  chosen: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  const twice = new Set<string>();
  for (const { name, email } of members) {
    const key = name.trim().toLowerCase();
    if (addresses.has(key)) twice.add(key);
    addresses.set(key, email);
  }
  for (const key of twice) addresses.delete(key);
  for (const [key, email] of Object.entries(chosen)) {
    if (email === '') addresses.delete(key);
    else addresses.set(key, email);
  }
  return addresses;
}

export function PeopleTable({
  people,
  members,
  onPerson,
}: {
  readonly people: readonly NamedPerson[];
  readonly members: readonly Pick<Member, 'id' | 'name' | 'email'>[];
  readonly onPerson: (person: string, email: string) => void;
}) {
  if (people.length === 0) return null;
  return (
    <>
      <table className="table preview-table">
        <caption className="sr-only">{i.people}</caption>
        <thead>
          <tr>
            <th scope="col">{i.personThere}</th>
            <th scope="col" className="number">
              {i.times}
            </th>
            <th scope="col">{i.personHere}</th>
          </tr>
        </thead>
        <tbody>
          {people.slice(0, mostShown).map(({ name, times, email }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number tabular">{times.toLocaleString()}</td>
              <td>
                <select
                  className="field"
                  aria-label={i.memberOf(name)}
                  value={email ?? ''}
                  onChange={({ target }) => onPerson(name, target.value)}
                >
                  <option value="">{i.noMember}</option>
                  {members.map((member) => (
                    <option key={member.id} value={member.email}>
                      {member.name}, {member.email}
                    </option>
                  ))}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="hint">
        {people.length > mostShown && `${i.more(people.length - mostShown)}. `}
        {i.peopleWhy}
      </p>
    </>
  );
}
