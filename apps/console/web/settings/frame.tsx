/** The layout of settings pages: the sections at the side, and the chosen one next to them. */
import { Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTitle } from '../components/title.ts';
import { texts } from '../messages/settings.ts';
import { t } from '../messages/index.ts';

export type SectionName = keyof typeof texts.sections;

export interface SettingsSection {
  readonly sectionName: SectionName;
  readonly children: ReactNode;
}

export function SettingsFrame({
  title,
  projectKey,
  sections,
  chosenSection,
  backLink,
}: {
  readonly title: string;
  /** The key of the project whose settings are shown; null for settings of the organization. */
  readonly projectKey: string | null;
  readonly sections: readonly SettingsSection[];
  readonly chosenSection: string;
  readonly backLink?: ReactNode;
}) {
  const place = sections.find(({ sectionName }) => sectionName === chosenSection) ?? sections[0];
  useTitle(`${title}: ${place === undefined ? '' : texts.sections[place.sectionName]}`);
  const nav = useRef<HTMLElement>(null);
  const router = useRouter();
  // On narrow screens the sections form a single line, in which the chosen section may be out of view. The
  // effect scrolls to it, and again after the router has restored scroll positions.
  useEffect(() => {
    const show = (): void =>
      nav.current
        ?.querySelector('[data-chosen]')
        ?.scrollIntoView({ block: 'nearest', inline: 'center', behavior: 'instant' });
    show();
    return router.subscribe('onRendered', show);
  }, [router, place?.sectionName]);
  return (
    <>
      <header className="page-head">
        {backLink}
        <h1>{title}</h1>
      </header>
      <div className="page">
        <div className="settings">
          <nav ref={nav} className="set-nav" aria-label={t.nav.settings}>
            <ul>
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
                    aria-current={sectionName === place?.sectionName ? 'page' : undefined}
                    data-chosen={sectionName === place?.sectionName || undefined}
                  >
                    {texts.sections[sectionName]}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          <div className="set-main">{place?.children}</div>
        </div>
      </div>
    </>
  );
}
