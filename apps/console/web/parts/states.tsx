/** What a page shows where it has nothing to show: still loading, failed, not there, empty. */
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { ForbiddenError, NotFoundError } from '@muster/client';
import { t } from '../texts/index.ts';
import { reasonFor } from './notices.tsx';

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

export function Failed({ error, again }: { readonly error: unknown; readonly again?: () => void }) {
  const isAbsent = error instanceof NotFoundError;
  const isForbidden = error instanceof ForbiddenError;
  return (
    <Empty title={isAbsent ? t.failed.notFoundTitle : isForbidden ? t.failed.forbidden : t.failed.title}>
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

export const Loading = ({ label, rows = 6 }: { readonly label: string; readonly rows?: number }) => (
  <div aria-busy="true" aria-label={label} role="status" style={{ display: 'grid', gap: 'var(--s2)' }}>
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} className="skeleton" style={{ blockSize: '3rem', opacity: 1 - row / rows }} />
    ))}
  </div>
);
