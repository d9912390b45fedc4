/** Shows the effect of an import in advance. */
import { type BoardColumn, type Member } from '@muster/registry';
import { type StatusTarget, type Survey } from '@muster/import-files';
import { joinFacts } from '../settings/components.tsx';
import { importTexts } from '../messages/imports.ts';
import { PeopleTable } from './people-table.tsx';

const canceled = 'canceled';

/** Returns the name of the column that is chosen for a status. */
function columnOf(place: StatusTarget | undefined, columns: readonly BoardColumn[]): string {
  if (place === undefined) return '';
  if ('column' in place) return place.column;
  return place.status === canceled
    ? canceled
    : (columns.find(({ status }) => status === place.status)?.name ?? '');
}

/** The maximum number of entries shown of a long list. */
const maxRows = 50;
const maxShownPlaces = 3;

export const Lines = ({
  title,
  lines,
}: {
  readonly title: string;
  readonly lines: readonly (readonly [what: string, places: readonly string[]])[];
}) =>
  lines.length > 0 && (
    <details className="fold">
      <summary>{title}</summary>
      <ul className="fold-list">
        {lines.slice(0, maxRows).map(([what, places]) => (
          <li key={`${what} ${places[0] ?? ''}`}>
            {what}{' '}
            <span className="muted">
              {importTexts.inItems(places.slice(0, maxShownPlaces), places.length)}
            </span>
          </li>
        ))}
        {lines.length > maxRows && <li className="muted">{importTexts.more(lines.length - maxRows)}</li>}
      </ul>
    </details>
  );

/** Maps the statuses of the file to columns of this board. */
function StatusTable({
  statuses,
  columns,
  onPlace,
}: {
  readonly statuses: Survey['statuses'];
  readonly columns: readonly BoardColumn[];
  readonly onPlace: (status: string, column: string) => void;
}) {
  if (statuses.length === 0) return <p className="muted">{importTexts.noStatuses}</p>;
  return (
    <table className="table preview-table">
      <caption className="sr-only">{importTexts.statuses}</caption>
      <thead>
        <tr>
          <th scope="col">{importTexts.statusThere}</th>
          <th scope="col" className="number">
            {importTexts.many}
          </th>
          <th scope="col">{importTexts.statusHere}</th>
        </tr>
      </thead>
      <tbody>
        {statuses.map(({ name, items: count, place }) => (
          <tr key={`${name} ${columnOf(place, columns)}`}>
            <th scope="row">{name}</th>
            <td className="number tabular">{count.toLocaleString()}</td>
            <td>
              <select
                className="field"
                aria-label={importTexts.placeOf(name)}
                aria-invalid={place === undefined || undefined}
                value={columnOf(place, columns)}
                onChange={({ target }) => onPlace(name, target.value)}
              >
                {place === undefined && (
                  <option value="" disabled>
                    {importTexts.choose}
                  </option>
                )}
                {columns.map((column) => (
                  <option key={column.id}>{column.name}</option>
                ))}
                <option value={canceled}>{importTexts.canceled}</option>
              </select>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const ImportFooter = ({
  items,
  unplaced,
  isBusy,
  onRun,
}: {
  readonly items: number;
  /** The number of statuses without a column. */
  readonly unplaced: number;
  readonly isBusy: boolean;
  readonly onRun: () => void;
}) => (
  <div className="form-foot">
    <button
      type="button"
      className="button"
      data-kind="main"
      disabled={isBusy || unplaced > 0 || items === 0}
      onClick={onRun}
    >
      {importTexts.run(items)}
    </button>
    <span className={unplaced > 0 ? 'state grow' : 'hint grow'} data-tone={unplaced > 0 ? 'wait' : undefined}>
      {unplaced > 0 ? importTexts.unplaced(unplaced) : importTexts.again}
    </span>
  </div>
);

export function Preview({
  survey,
  columns,
  members,
  isBusy,
  theirs,
  onTheirs,
  onPlace,
  onPerson,
  onRun,
}: {
  readonly survey: Survey;
  readonly columns: readonly BoardColumn[];
  readonly members: readonly Member[];
  readonly isBusy: boolean;
  readonly theirs: boolean;
  readonly onTheirs: (theirs: boolean) => void;
  readonly onPlace: (status: string, column: string) => void;
  readonly onPerson: (person: string, email: string) => void;
  readonly onRun: () => void;
}) {
  const { items, comments, epics, refused, leftOut, notes } = survey;
  const statuses = survey.statuses.toSorted((one, other) => other.items - one.items);
  const unplaced = statuses.filter(({ place }) => place === undefined).length;
  return (
    <>
      <div className="preview-head">
        <h3>{importTexts.found}</h3>
        <p className="tabular">
          {joinFacts(
            importTexts.items(items),
            comments > 0 && importTexts.comments(comments),
            epics > 0 && importTexts.epics(epics),
          )}
        </p>
      </div>
      <StatusTable statuses={statuses} columns={columns} onPlace={onPlace} />
      <PeopleTable people={survey.people} members={members} onPerson={onPerson} />
      <div className="folds">
        <Lines
          title={importTexts.refusedItems(refused.length)}
          lines={refused.map(({ place, why }) => [why, [place]] as const)}
        />
        <Lines
          title={importTexts.leftOut(leftOut.length + notes.length)}
          lines={[
            ...notes.map((note) => [note, []] as const),
            ...leftOut.map(({ what, places }) => [what, places] as const),
          ]}
        />
      </div>
      <label className="switch">
        <input type="checkbox" checked={theirs} onChange={({ target }) => onTheirs(target.checked)} />
        {importTexts.theirs}
      </label>
      <ImportFooter items={items} unplaced={unplaced} isBusy={isBusy} onRun={onRun} />
    </>
  );
}
