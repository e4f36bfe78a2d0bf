<?php
$kept = [];
for ($i = 0; $i < (int)$argv[1]; $i++) $kept[] = "x" . $i;
if ($argc > 2) usleep((int)$argv[2] * 1000);
echo count($kept), "\n";
