/** The layout of settings pages: the sections in groups at the side, and the chosen one next to them. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useId, useState } from 'react';
import { Icon } from '../components/icons.tsx';
import { useTitle } from '../components/title.ts';
import { texts } from '../messages/settings.ts';
import { t } from '../messages/index.ts';

export type SectionName = keyof typeof texts.sections;
export type GroupName = keyof typeof texts.groups;

export interface SettingsSection {
  readonly sectionName: SectionName;
  readonly children: ReactNode;
}

export type SettingsGroup = readonly [name: GroupName, sections: readonly SettingsSection[]];

interface SectionLinksProps {
  readonly group: SettingsGroup;
  readonly projectKey: string | null;
  readonly chosen: SectionName | undefined;
  readonly onChoose: () => void;
}

function SectionLinks({ group: [name, sections], projectKey, chosen, onChoose }: SectionLinksProps) {
  const id = useId();
  return (
    <div>
      <h2 id={id} className="rail-title">
        {texts.groups[name]}
      </h2>
      <ul aria-labelledby={id}>
        {sections.map(({ sectionName }) => (
          <li key={sectionName}>
            <Link
              {...(projectKey === null
                ? ({ to: '/settings/$section', params: { section: sectionName } } as const)
                : ({
                    to: '/p/$projectKey/settings/$section',
                    params: { projectKey, section: sectionName },
                  } as const))}
              className="rail-link"
              aria-current={sectionName === chosen ? 'page' : undefined}
              onClick={onChoose}
            >
              {texts.sections[sectionName]}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface SettingsFrameProps {
  readonly title: string;
  /** The key of the project whose settings are shown; null for settings of the organization. */
  readonly projectKey: string | null;
  readonly groups: readonly SettingsGroup[];
  readonly chosenSection: string;
  readonly backLink?: ReactNode;
}

export function SettingsFrame({ title, projectKey, groups, chosenSection, backLink }: SettingsFrameProps) {
  const sections = groups.flatMap(([, list]) => list);
  const place = sections.find(({ sectionName }) => sectionName === chosenSection) ?? sections[0];
  const placeName = place === undefined ? '' : texts.sections[place.sectionName];
  useTitle(`${title}: ${placeName}`);
  const listId = useId();
  /** On narrow screens, a button opens the list of sections. */
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <header className="page-head">
        {backLink}
        <h1>{title}</h1>
      </header>
      <div className="page">
        <div className="settings">
          <nav className="set-nav" aria-label={t.nav.settings}>
            <button
              type="button"
              className="button set-toggle"
              aria-expanded={isOpen}
              aria-controls={listId}
              onClick={() => setOpen(!isOpen)}
            >
              <span className="sr-only">{texts.section} </span>
              {placeName}
              <Icon name="down" size={14} />
            </button>
            <div id={listId} className="set-groups" data-open={isOpen || undefined}>
              {groups
                .filter(([, list]) => list.length > 0)
                .map((group) => (
                  <SectionLinks
                    key={group[0]}
                    {...{ group, projectKey, chosen: place?.sectionName }}
                    onChoose={() => setOpen(false)}
                  />
                ))}
            </div>
          </nav>
          <div className="set-main">{place?.children}</div>
        </div>
      </div>
    </>
  );
}
