/** Maps the names in a file to members: by default the member of the same name. */
import { type NamedPerson } from '@muster/import-files';
import { type Member } from '@muster/contract';
import { importTexts } from '../messages/imports.ts';

/** The maximum number of rows shown. */
const maxVisibleRows = 50;

/**
 * Returns a map from names in lower case to the addresses of members. A name that two members share is left
 * out. In `chosen`, the value '' means that the name belongs to no member.
 */
export function emailsByPersonName(
  members: readonly Pick<Member, 'name' | 'email'>[],
  chosenEmails: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  const twice = new Set<string>();
  for (const { name, email } of members) {
    const key = name.trim().toLowerCase();
    if (addresses.has(key)) twice.add(key);
    addresses.set(key, email);
  }
  for (const key of twice) addresses.delete(key);
  for (const [key, email] of Object.entries(chosenEmails)) {
    if (email === '') addresses.delete(key);
    else addresses.set(key, email);
  }
  return addresses;
}

interface PersonMappingTableProps {
  readonly people: readonly NamedPerson[];
  readonly members: readonly Pick<Member, 'id' | 'name' | 'email'>[];
  readonly onMemberChange: (person: string, email: string) => void;
}

export function PersonMappingTable({ people, members, onMemberChange }: PersonMappingTableProps) {
  if (people.length === 0) return null;
  return (
    <>
      <table className="table preview-table">
        <caption className="sr-only">{importTexts.people}</caption>
        <thead>
          <tr>
            <th scope="col">{importTexts.personThere}</th>
            <th scope="col" className="number">
              {importTexts.times}
            </th>
            <th scope="col">{importTexts.personHere}</th>
          </tr>
        </thead>
        <tbody>
          {people.slice(0, maxVisibleRows).map(({ name, times, email }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number tabular">{times.toLocaleString()}</td>
              <td>
                <select
                  className="field"
                  aria-label={importTexts.memberOf(name)}
                  value={email ?? ''}
                  onChange={({ target }) => onMemberChange(name, target.value)}
                >
                  <option value="">{importTexts.noMember}</option>
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
        {people.length > maxVisibleRows && `${importTexts.more(people.length - maxVisibleRows)}. `}
        {importTexts.peopleWhy}
      </p>
    </>
  );
}
