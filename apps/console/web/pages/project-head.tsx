import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { Icon } from '../components/icons.tsx';
import { storyTexts } from '../messages/story.ts';

interface ProjectPageHeaderProps {
  readonly projectKey: string;
  readonly title: string;
  readonly children?: ReactNode;
}

/** The header of a project's page: a link back to the board, and the title. */
export const ProjectPageHeader = ({ projectKey, title, children }: ProjectPageHeaderProps) => (
  <header className="page-head">
    <Link to="/p/$projectKey" params={{ projectKey }} className="icon-button" aria-label={storyTexts.toBoard}>
      <Icon name="back" />
    </Link>
    <span className="key">{projectKey}</span>
    <h1>{title}</h1>
    <span className="grow" />
    {children}
  </header>
);
