/** What a page shows where it has nothing to show: still loading, failed, not there, empty. */
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { ForbiddenError, NotFoundError } from '@muster/client';
import { useWire } from '../data/context.ts';
import { t } from '../texts/index.ts';
import { reasonFor } from './notices.tsx';

export const Empty = ({
  title,
  isPage = false,
  children,
}: {
  readonly title: string;
  /** True where nothing else on the page has a heading. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
}) => (
  <div className="empty">
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
);

export function Failed({
  error,
  isPage = false,
  again,
}: {
  readonly error: unknown;
  /** True where it stands in place of a whole page. */
  readonly isPage?: boolean;
  readonly again?: () => void;
}) {
  const isAbsent = error instanceof NotFoundError;
  const isForbidden = error instanceof ForbiddenError;
  return (
    <Empty
      title={isAbsent ? t.failed.notFoundTitle : isForbidden ? t.failed.forbidden : t.failed.title}
      isPage={isPage}
    >
      <p>{isAbsent ? t.failed.notFound : isForbidden ? t.failed.forbiddenWhy : reasonFor(error)}</p>
      {isAbsent || isForbidden || again === undefined ? (
        <Link to="/" className="button">
          {t.failed.toNow}
        </Link>
      ) : (
        <button type="button" className="button" onClick={again}>
          {t.retry}
        </button>
      )}
    </Empty>
  );
}

/** Says, while the connection is lost, that something waits for it. */
export function Waits({ children }: { readonly children: string }) {
  const { state } = useWire();
  return state === 'lost' ? (
    <p className="state" data-tone="wait" role="status">
      {children}
    </p>
  ) : null;
}

export const Loading = ({ label, rows = 6 }: { readonly label: string; readonly rows?: number }) => (
  <div aria-busy="true" aria-label={label} role="status" style={{ display: 'grid', gap: 'var(--s2)' }}>
    <Waits>{t.failed.waits}</Waits>
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} className="skeleton" style={{ blockSize: '3rem', opacity: 1 - row / rows }} />
    ))}
  </div>
);
