// The tiles of a session on the server.

import { api, ApiError } from '../api/client';
import { VersionChangedError, type TileSource } from './tileLoader';

/** `version`: the session's, when a tile is asked for. */
export const tilesOf = (sessionId: string, version: () => string): TileSource => ({
  async fetchTile({ chunk, level, index }, signal) {
    try {
      return await api.tile(sessionId, chunk, level, index, version(), { signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) throw new VersionChangedError();
      throw error;
    }
  },
});
