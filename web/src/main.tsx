import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/App';
import './theme/fonts.css';
import './theme/tokens.css';
import './theme/base.css';
import { CategoryPatterns } from './theme/CategoryPatterns';
import { initTheme } from './theme/theme';

initTheme();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <CategoryPatterns />
    <App />
  </StrictMode>,
);
