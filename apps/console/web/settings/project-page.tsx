import { type Project } from '@muster/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useClient, useIdentity } from '../data/context.ts';
import { Imports } from '../imports/imports.tsx';
import { Icon } from '../components/icons.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { storyTexts } from '../messages/story.ts';
import { texts } from '../messages/settings.ts';
import { Budgets } from './budgets.tsx';
import { ColumnSettings } from './columns.tsx';
import { Contracts } from './contracts.tsx';
import { DeletedStories } from './deleted-stories.tsx';
import { Exports } from './exports.tsx';
import { RepositorySettings } from './forges.tsx';
import { SettingsFrame, type SettingsGroup } from './frame.tsx';
import { ProjectGeneralSettings } from './general.tsx';
import { ProjectPeople } from './people.tsx';
import { Prompts } from './prompts.tsx';
import { projectQuery } from './queries.ts';
import { Webhooks } from './webhooks.tsx';

const projectSettingsRoute = getRouteApi('/p/$projectKey/settings/$section');

function settingsOf(project: Project, isPerson: boolean): readonly SettingsGroup[] {
  const { id: projectId, key: projectKey, myRole, archivedAt } = project;
  const mayLead = myRole === 'lead';
  const mayWrite = archivedAt === null && myRole !== 'viewer';
  const isLead = mayLead && isPerson;
  return [
    [
      'project',
      [
        { sectionName: 'people', children: <ProjectPeople projectId={projectId} mayLead={mayLead} /> },
        ...(isLead
          ? ([
              { sectionName: 'general', children: <ProjectGeneralSettings project={project} /> },
              { sectionName: 'columns', children: <ColumnSettings projectId={projectId} /> },
            ] as const)
          : []),
      ],
    ],
    [
      'integrations',
      [
        {
          sectionName: 'prompts',
          children: <Prompts {...{ projectId, projectKey }} mayWrite={mayLead && mayWrite} />,
        },
        { sectionName: 'contracts', children: <Contracts projectId={projectId} mayWrite={mayWrite} /> },
        ...(isLead
          ? ([
              { sectionName: 'forges', children: <RepositorySettings projectId={projectId} /> },
              { sectionName: 'webhooks', children: <Webhooks projectId={projectId} /> },
            ] as const)
          : []),
      ],
    ],
    [
      'data',
      isLead
        ? [
            { sectionName: 'budgets', children: <Budgets projectId={projectId} /> },
            {
              sectionName: 'import',
              children: (
                <Imports projectId={projectId} projectKey={projectKey} mayWrite={archivedAt === null} />
              ),
            },
            { sectionName: 'exports', children: <Exports projectId={projectId} /> },
            {
              sectionName: 'deleted',
              children: <DeletedStories projectId={projectId} mayWrite={mayWrite} />,
            },
          ]
        : [],
    ],
  ];
}

export function ProjectPage() {
  const { projectKey: given, section } = projectSettingsRoute.useParams();
  const projectKey = given.toUpperCase();
  const { agent } = useIdentity();
  const project = useQuery(projectQuery(useClient(), projectKey));
  if (project.data === undefined)
    return project.error === null ? (
      <Loading label={texts.loading} />
    ) : (
      <LoadError isPage error={project.error} onRetry={() => void project.refetch()} />
    );
  return (
    <SettingsFrame
      title={project.data.name}
      projectKey={projectKey}
      groups={settingsOf(project.data, agent === null)}
      chosenSection={section}
      backLink={
        <Link
          to="/p/$projectKey"
          params={{ projectKey }}
          className="icon-button"
          aria-label={storyTexts.toBoard}
        >
          <Icon name="back" />
        </Link>
      }
    />
  );
}
