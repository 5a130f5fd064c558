export { ROOM_KINDS } from './room-kinds.ts';
export { RoomKeeper, type RoomOptions } from './room-keeper.ts';
