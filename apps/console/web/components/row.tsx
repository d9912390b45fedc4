import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';

interface ListRowProps {
  readonly id?: string;
  readonly leadingElement: ReactNode;
  readonly storyKey: string | null;
  /** The section of the settings to which the title leads, if it leads to no story. */
  readonly settingsSection?: string | undefined;
  readonly title: string;
  readonly details: ReactNode;
  readonly actions?: ReactNode;
  readonly isNew?: boolean;
}

/** A row of a list: the subject, facts about it, and actions. */
export const ListRow = ({
  id,
  leadingElement,
  storyKey,
  settingsSection,
  title,
  details,
  actions,
  isNew,
}: ListRowProps) => (
  <li className="row" data-row={id} data-new={isNew === true || undefined}>
    <span className="row-lead">{leadingElement}</span>
    <div className="row-words">
      <p className="row-line">
        {storyKey === null ? (
          settingsSection === undefined ? (
            <span className="row-title">{title}</span>
          ) : (
            <Link to="/settings/$section" params={{ section: settingsSection }} className="row-title">
              {title}
            </Link>
          )
        ) : (
          <Link to="/s/$storyKey" params={{ storyKey }} className="row-title">
            {!title.includes(storyKey) && <span className="key">{storyKey} </span>}
            {title}
          </Link>
        )}
      </p>
      <div className="row-fact">{details}</div>
    </div>
    {actions !== undefined && <div className="row-act">{actions}</div>}
  </li>
);

interface RowGroupProps<Item> {
  readonly id: string;
  readonly title: string;
  readonly items: readonly Item[] | undefined;
  readonly children: (item: Item) => ReactNode;
}

/** Rows with a heading; renders nothing if there are none. */
export const RowGroup = <Item,>({ id, title, items = [], children }: RowGroupProps<Item>) =>
  items.length > 0 && (
    <section className="group" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul className="rows">{items.map(children)}</ul>
    </section>
  );
