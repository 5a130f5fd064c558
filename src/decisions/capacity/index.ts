export { ROOM_KINDS } from './room-kinds.ts';
export { RoomKeeper } from './room-keeper.ts';
