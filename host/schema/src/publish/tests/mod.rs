mod describe;
