/** Shows the effect of an import in advance. */
import { type BoardColumn, type Member } from '@muster/contract';
import { type StatusTarget, type Survey } from '@muster/import-files';
import { joinFacts } from '../settings/components.tsx';
import { importTexts } from '../messages/imports.ts';
import { PersonMappingTable } from './people-table.tsx';

const canceledOption = 'canceled';

/** Returns the name of the column that is chosen for a status. */
function columnNameOf(statusTarget: StatusTarget | undefined, columns: readonly BoardColumn[]): string {
  if (statusTarget === undefined) return '';
  if ('column' in statusTarget) return statusTarget.column;
  return statusTarget.status === canceledOption
    ? canceledOption
    : (columns.find(({ status }) => status === statusTarget.status)?.name ?? '');
}

/** The maximum number of entries shown of a long list. */
const maxVisibleRows = 50;
const maxVisibleLocations = 3;

interface FoldedIssueListProps {
  readonly title: string;
  readonly lines: readonly (readonly [what: string, places: readonly string[]])[];
}

export const FoldedIssueList = ({ title, lines }: FoldedIssueListProps) =>
  lines.length > 0 && (
    <details className="fold">
      <summary>{title}</summary>
      <ul className="fold-list">
        {lines.slice(0, maxVisibleRows).map(([what, places]) => (
          <li key={`${what} ${places[0] ?? ''}`}>
            {what}{' '}
            <span className="muted">
              {importTexts.inItems(places.slice(0, maxVisibleLocations), places.length)}
            </span>
          </li>
        ))}
        {lines.length > maxVisibleRows && (
          <li className="muted">{importTexts.more(lines.length - maxVisibleRows)}</li>
        )}
      </ul>
    </details>
  );

interface StatusTableProps {
  readonly statuses: Survey['statuses'];
  readonly columns: readonly BoardColumn[];
  readonly onColumnChange: (status: string, column: string) => void;
}

/** Maps the statuses of the file to columns of this board. */
function StatusTable({ statuses, columns, onColumnChange }: StatusTableProps) {
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
          <tr key={`${name} ${columnNameOf(place, columns)}`}>
            <th scope="row">{name}</th>
            <td className="number tabular">{count.toLocaleString()}</td>
            <td>
              <select
                className="field"
                aria-label={importTexts.placeOf(name)}
                aria-invalid={place === undefined || undefined}
                value={columnNameOf(place, columns)}
                onChange={({ target }) => onColumnChange(name, target.value)}
              >
                {place === undefined && (
                  <option value="" disabled>
                    {importTexts.choose}
                  </option>
                )}
                {columns.map((column) => (
                  <option key={column.id}>{column.name}</option>
                ))}
                <option value={canceledOption}>{importTexts.canceled}</option>
              </select>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ImportFooterProps {
  readonly items: number;
  /** The number of statuses without a column. */
  readonly unmappedStatusCount: number;
  readonly isBusy: boolean;
  readonly onImport: () => void;
}

const ImportFooter = ({ items, unmappedStatusCount, isBusy, onImport }: ImportFooterProps) => (
  <div className="form-foot">
    <button
      type="button"
      className="button"
      data-kind="main"
      disabled={isBusy || unmappedStatusCount > 0 || items === 0}
      onClick={onImport}
    >
      {importTexts.run(items)}
    </button>
    <span
      className={unmappedStatusCount > 0 ? 'state grow' : 'hint grow'}
      data-tone={unmappedStatusCount > 0 ? 'wait' : undefined}
    >
      {unmappedStatusCount > 0 ? importTexts.unplaced(unmappedStatusCount) : importTexts.again}
    </span>
  </div>
);

export function ImportPreview({
  survey,
  columns,
  members,
  isBusy,
  overwritesStories,
  onOverwriteChange,
  onColumnChange,
  onMemberChange,
  onImport,
}: {
  readonly survey: Survey;
  readonly columns: readonly BoardColumn[];
  readonly members: readonly Member[];
  readonly isBusy: boolean;
  readonly overwritesStories: boolean;
  readonly onOverwriteChange: (theirs: boolean) => void;
  readonly onColumnChange: (status: string, column: string) => void;
  readonly onMemberChange: (person: string, email: string) => void;
  readonly onImport: () => void;
}) {
  const { items, comments, epics, refused, unimportedParts: leftOut, notes } = survey;
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
      <StatusTable statuses={statuses} columns={columns} onColumnChange={onColumnChange} />
      <PersonMappingTable people={survey.people} members={members} onMemberChange={onMemberChange} />
      <div className="folds">
        <FoldedIssueList
          title={importTexts.refusedItems(refused.length)}
          lines={refused.map(({ place, why }) => [why, [place]] as const)}
        />
        <FoldedIssueList
          title={importTexts.leftOut(leftOut.length + notes.length)}
          lines={[
            ...notes.map((note) => [note, []] as const),
            ...leftOut.map(({ what, places }) => [what, places] as const),
          ]}
        />
      </div>
      <label className="switch">
        <input
          type="checkbox"
          checked={overwritesStories}
          onChange={({ target }) => onOverwriteChange(target.checked)}
        />
        {importTexts.theirs}
      </label>
      <ImportFooter items={items} unmappedStatusCount={unplaced} isBusy={isBusy} onImport={onImport} />
    </>
  );
}
