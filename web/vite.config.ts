import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// The server serves build/console. Asset addresses are relative to <base href> in index.html, so one build
// works at "/" and under any prefix: the server only rewrites that one attribute.
const api = process.env.STROBE_SERVER ?? 'http://127.0.0.1:8080';

export default defineConfig({
  base: './',
  plugins: [react()],
  build: {
    outDir: '../build/console',
    emptyOutDir: true,
    target: 'es2022',
    // A strict content policy refuses data: fonts and keeps images to our origin, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': { target: api, changeOrigin: true } } },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'], restoreMocks: true },
});
