/** Icons, drawn for 16 px with a stroke of 1.5. A state is recognizable by its shape as well as its color. */
import { type ReactElement, type ReactNode } from 'react';
import { type Priority, type StoryStatus } from '@muster/contract';

export const LineIcon = ({
  children,
  size = 16,
}: {
  readonly children: ReactNode;
  readonly size?: number;
}) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {children}
  </svg>
);

export const Logo = () => (
  <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="9" fill="currentColor" />
    <path
      d="M9 22V11l7 7 7-7v11"
      fill="none"
      stroke="var(--accent-ink)"
      strokeWidth="3"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
);

const iconPaths = {
  myWork: <path d="M8 1.8 3 9h4l-.8 5.2L13 7H8.6z" />,
  inbox: (
    <>
      <path d="M2 9.5 4 3h8l2 6.5V13H2z" />
      <path d="M2 9.5h3.5l1 1.8h3l1-1.8H14" />
    </>
  ),
  agents: (
    <>
      <rect x="2.8" y="5" width="10.4" height="8" rx="2.2" />
      <path d="M8 5V2.4M6 8.6v.8M10 8.6v.8" />
    </>
  ),
  boards: <path d="M2.5 3h3v10h-3zM6.5 3h3v7h-3zM10.5 3h3v5h-3z" />,
  list: <path d="M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1" />,
  activity: <path d="M1.8 8h2.7l2-5 3 10 2-5h2.7" />,
  usage: <path d="M2 13.5h12M3.8 11V8.5M8 11V3M12.2 11V6" />,
  plus: <path d="M8 3v10M3 8h10" />,
  more: (
    <>
      <circle cx="3.5" cy="8" r=".6" fill="currentColor" />
      <circle cx="8" cy="8" r=".6" fill="currentColor" />
      <circle cx="12.5" cy="8" r=".6" fill="currentColor" />
    </>
  ),
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  tick: <path d="m3 8.5 3.2 3.2L13 5" />,
  down: <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />,
  back: <path d="M9.5 3.5 5 8l4.5 4.5" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.2" />
      <path d="m10.2 10.2 3.3 3.3" />
    </>
  ),
  thread: <path d="M2.5 3.5h11v7.5H7.3L4.5 13.4V11h-2z" />,
  eye: (
    <>
      <path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z" />
      <circle cx="8" cy="8" r="1.8" />
    </>
  ),
  help: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M6.3 6.3a1.8 1.8 0 1 1 2.5 1.7c-.6.3-.8.6-.8 1.2M8 11.2v.1" />
    </>
  ),
  settings: (
    <>
      <path d="M2 4.8h7.2M12.8 4.8H14M2 11.2h1.2M6.8 11.2H14" />
      <circle cx="11" cy="4.8" r="1.8" />
      <circle cx="5" cy="11.2" r="1.8" />
    </>
  ),
  leave: <path d="M6 2.8H3v10.4h3M10 5l3 3-3 3M13 8H6.5" />,
  start: <path d="M5 3.4v9.2L12.2 8z" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1.6" />,
  edit: <path d="m3 13 .6-3L11 2.6 13.4 5 6 12.4zM9.4 4.2l2.4 2.4" />,
  warn: <path d="M8 2.5 14.2 13H1.8zM8 6.6v3M8 11.3v.1" />,
} as const;

export type IconName = keyof typeof iconPaths;

export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <LineIcon size={size}>{iconPaths[name]}</LineIcon>
);

/** Status icons: a circle that fills as the story progresses. */
const statusShapes: Record<StoryStatus, { readonly tone: string; readonly shape: ReactElement }> = {
  backlog: { tone: 'var(--muted)', shape: <circle cx="8" cy="8" r="5.6" strokeDasharray="1.6 1.9" /> },
  ready: { tone: 'var(--muted)', shape: <circle cx="8" cy="8" r="5.6" /> },
  in_progress: {
    tone: 'var(--amber)',
    shape: (
      <>
        <circle cx="8" cy="8" r="5.6" />
        <path d="M8 5v6a3 3 0 0 0 0-6z" fill="currentColor" />
      </>
    ),
  },
  in_review: {
    tone: 'var(--violet)',
    shape: (
      <>
        <circle cx="8" cy="8" r="5.6" />
        <circle cx="8" cy="8" r="2.2" fill="currentColor" />
      </>
    ),
  },
  done: {
    tone: 'var(--green)',
    shape: (
      <>
        <circle cx="8" cy="8" r="5.6" fill="currentColor" />
        <path d="m5.4 8.2 1.8 1.8 3.4-3.6" stroke="var(--surface)" />
      </>
    ),
  },
  canceled: {
    tone: 'var(--muted)',
    shape: (
      <>
        <circle cx="8" cy="8" r="5.6" />
        <path d="m6 6 4 4M10 6l-4 4" />
      </>
    ),
  },
};

export const StatusIcon = ({ status }: { readonly status: StoryStatus }) => (
  <span style={{ color: statusShapes[status].tone, display: 'inline-flex' }}>
    <LineIcon>{statusShapes[status].shape}</LineIcon>
  </span>
);

const barCountByPriority: Record<Exclude<Priority, 'none'>, number> = {
  low: 1,
  medium: 2,
  high: 3,
  urgent: 4,
};

/** Shows the priority as a number of bars; urgent is a filled sign. */
export function PriorityIcon({ priority }: { readonly priority: Priority }): ReactElement | null {
  if (priority === 'none') return null;
  if (priority === 'urgent')
    return (
      <svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true" style={{ color: 'var(--red)' }}>
        <rect x="1.5" y="1.5" width="13" height="13" rx="3.4" fill="currentColor" />
        <path d="M8 4.6v4.2M8 11.3v.1" stroke="var(--surface)" strokeWidth="1.8" strokeLinecap="round" />
      </svg>
    );
  return (
    <svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true" fill="currentColor">
      {[0, 1, 2].map((bar) => (
        <rect
          key={bar}
          x={2 + bar * 4.4}
          y={10 - bar * 3.6}
          width="3"
          height={4 + bar * 3.6}
          rx="1"
          opacity={bar < barCountByPriority[priority] ? 0.85 : 0.22}
        />
      ))}
    </svg>
  );
}
