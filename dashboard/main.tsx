import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { createService, loadConfig } from './data/api.ts';
import { ServiceContext } from './data/hooks.ts';
import { shareSession } from './data/tabs.ts';
import { loadAhead } from './later-page.ts';
import { applyTheme } from './parts/frame/frame.tsx';
import './styles/base.css';
import './styles/frame.css';
import './styles/parts.css';
import './styles/forms.css';
import './styles/queue.css';
import './styles/tree.css';
import './styles/charts.css';
import './styles/pages.css';

/** After what the first page shows and asks for. */
const AHEAD_AFTER_MS = 5_000;

async function start(): Promise<void> {
  const place = document.getElementById('root');
  if (place === null) return;
  const root = createRoot(place);
  try {
    // Throws where the browser blocks the storage of the site.
    applyTheme();
    const [config] = await Promise.all([loadConfig(), shareSession()]);
    const service = createService(config);
    root.render(
      <StrictMode>
        <ServiceContext value={service}>
          <QueryClientProvider client={service.queries}>
            <App />
          </QueryClientProvider>
        </ServiceContext>
      </StrictMode>,
    );
    setTimeout(() => void loadAhead(), AHEAD_AFTER_MS);
  } catch {
    root.render(
      <main className="stranded">
        <h1>The dashboard cannot start</h1>
        <p>
          Its configuration could not be read, or this browser blocks the storage of this site. The queue goes
          on working; allow that storage, or reload this page in a moment.
        </p>
        <button type="button" className="button button-main" onClick={() => location.reload()}>
          Reload
        </button>
      </main>,
    );
  }
}

void start();
